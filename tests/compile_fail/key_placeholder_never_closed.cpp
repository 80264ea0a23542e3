// expect: placeholder_is_never_closed.*"{account.id"
#include <latchkey/key.hpp>

void use() { static_cast<void>(latchkey::Key<"account:{account.id">::many); }

// expect: quoted_text_is_never_closed
#include <latchkey/key.hpp>

void use() { static_cast<void>(latchkey::Key<"'account">::many); }

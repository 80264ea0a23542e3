// expect: parenthesis_is_never_closed
#include <latchkey/key.hpp>

void use() { static_cast<void>(latchkey::Key<"{lower(account}">::many); }

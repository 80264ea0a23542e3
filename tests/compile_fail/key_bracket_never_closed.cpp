// expect: bracket_is_never_closed
#include <latchkey/key.hpp>

void use() { static_cast<void>(latchkey::Key<"{ids[0}">::many); }

// expect: the_key_is_empty
#include <latchkey/key.hpp>

void use() { static_cast<void>(latchkey::Key<"">::many); }

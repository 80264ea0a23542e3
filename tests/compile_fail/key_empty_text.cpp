// expect: value_is_an_empty_text
#include <latchkey/key.hpp>

void use() { static_cast<void>(latchkey::Key<"{''}">::many); }

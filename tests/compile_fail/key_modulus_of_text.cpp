// expect: the_percent_sign_needs_an_integer_before_it
#include <latchkey/key.hpp>

void use() { static_cast<void>(latchkey::Key<"{lower(id) % 8}">::many); }

// expect: expected_an_argument_a_text_or_a_function_before
#include <latchkey/key.hpp>

void use() { static_cast<void>(latchkey::Key<"{account.id + }">::many); }

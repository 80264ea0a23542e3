// expect: an_index_is_a_number_a_quoted_text_or_a_star
#include <latchkey/key.hpp>

void use() { static_cast<void>(latchkey::Key<"{ids[-1]}">::many); }

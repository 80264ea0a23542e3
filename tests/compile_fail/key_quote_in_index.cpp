// expect: an_index_cannot_hold_a_quote
#include <latchkey/key.hpp>

void use() { static_cast<void>(latchkey::Key<"{ids['it''s']}">::many); }

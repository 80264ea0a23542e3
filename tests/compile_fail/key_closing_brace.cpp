// expect: closing_brace_without_an_opening_one_write_it_twice_for_text.*"account:id}"
#include <latchkey/key.hpp>

void use() { static_cast<void>(latchkey::Key<"account:id}">::many); }

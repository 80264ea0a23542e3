// expect: nothing_separates_this_value_from_the_one_before.*"b"
#include <latchkey/key.hpp>

void use() { static_cast<void>(latchkey::Key<"#a + '-' + #b">::many); }

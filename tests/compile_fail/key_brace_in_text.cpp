// expect: brace_inside_an_expression
#include <latchkey/key.hpp>

void use() { static_cast<void>(latchkey::Key<"{'{'}">::many); }

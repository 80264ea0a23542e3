// expect: the_expression_should_have_ended_before.*"amount"
#include <latchkey/key.hpp>

void use() { static_cast<void>(latchkey::Key<"{account amount}">::many); }

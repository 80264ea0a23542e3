// expect: a_star_takes_each_element_of_a_container<.*"amount.*".*int
#include <latchkey/key.hpp>

void use() { latchkey::Key<"{amount[*]}">::check<"amount", int>(); }

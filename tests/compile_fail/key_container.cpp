// expect: a_container_makes_no_key_index_it<.*"ids".*vector
#include <latchkey/key.hpp>

void use() { latchkey::Key<"{ids}">::check<"ids", std::vector<int>>(); }

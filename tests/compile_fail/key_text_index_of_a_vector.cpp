// expect: a_text_indexes_maps_with_text_keys<.*"first".*vector
#include <latchkey/key.hpp>

void use() { latchkey::Key<"{ids['first']}">::check<"ids", std::vector<int>>(); }

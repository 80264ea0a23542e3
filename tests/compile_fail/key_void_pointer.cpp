// expect: this_type_makes_no_key<.*"handle".*void
#include <latchkey/key.hpp>

void use() { latchkey::Key<"{handle}">::check<"handle", void*>(); }

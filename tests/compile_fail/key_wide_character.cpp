// expect: this_type_makes_no_key<.*"letter".*wchar_t
#include <latchkey/key.hpp>

void use() { latchkey::Key<"{letter}">::check<"letter", wchar_t>(); }

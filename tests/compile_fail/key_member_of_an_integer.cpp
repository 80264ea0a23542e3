// expect: type_has_no_fields<.*"value".*int
#include <latchkey/key.hpp>

void use() { latchkey::Key<"{amount.value}">::check<"amount", int>(); }

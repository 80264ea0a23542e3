// expect: placeholder_is_empty.*"account:\{\}"
#include <latchkey/key.hpp>

void use() { static_cast<void>(latchkey::Key<"account:{}">::many); }

// expect: no_such_function.*"loewr".*"lower".*"upper".*"hash".*"size".*"raw"
#include <latchkey/key.hpp>

void use() { static_cast<void>(latchkey::Key<"{loewr(account.name)}">::many); }

// expect: size_takes_a_path
#include <latchkey/key.hpp>

void use() { static_cast<void>(latchkey::Key<"{size(a + ':' + b)}">::many); }

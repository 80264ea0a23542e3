// expect: inside a function: LOCKED\(key\) AROUND\(arguments\) \{ body \}
// There is no scope whose names the body could see.
#include <latchkey/latchkey.hpp>

int number = LOCKED("key") AROUND() { return 1; };

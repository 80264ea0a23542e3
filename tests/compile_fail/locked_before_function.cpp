// expect: inside a function: LOCKED\(key\) AROUND\(arguments\) \{ body \}
// As annotations stand in other languages.
#include <latchkey/latchkey.hpp>

LOCKED("key:{id}") int call(int id) { return id; }

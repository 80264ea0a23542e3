// expect: type_has_virtual_functions_write_LATCHKEY_FIELDS<.*"id".*Base
// Public members and a virtual function.
#include <latchkey/latchkey.hpp>

struct Base {
  virtual ~Base() = default;
  int id = 0;
};

void call(const Base& base) { LOCKED("key:{base.id}") AROUND(base){}; }

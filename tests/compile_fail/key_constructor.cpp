// expect: members_are_private_or_set_by_a_constructor_write_LATCHKEY_FIELDS<.*"id".*Made
// Public members and a constructor.
#include <latchkey/latchkey.hpp>

struct Made {
  explicit Made(int number) : id(number) {}
  int id;
};

void call(const Made& made) { LOCKED("key:{made.id}") AROUND(made){}; }

// expect: type_has_a_bit_field_write_LATCHKEY_FIELDS_with_a_getter_for_it<.*"id".*Bits
// A type with a bit-field.
#include <latchkey/latchkey.hpp>

struct Bits {
  int id;
  unsigned open : 1;
};

void call(const Bits& bits) { LOCKED("key:{bits.id}") AROUND(bits){}; }

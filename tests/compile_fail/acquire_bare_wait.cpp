// expect: a_wait_has_a_unit_write_3s_or_latchkey_forever|a wait has a unit: write 3s
// A number without a unit, outside of LOCKED.
#include <latchkey/latchkey.hpp>

void call(const latchkey::Locks& locks) { latchkey::Hold hold = locks.lock("key").acquire(3); }

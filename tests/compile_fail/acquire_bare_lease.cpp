// expect: a_lease_has_a_unit_write_30s_or_latchkey_watchdog|a lease has a unit: write 30s
// A number without a unit, outside of LOCKED.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;

void call(const latchkey::Locks& locks) {
  latchkey::Hold hold = locks.semaphore("key", 3).acquire(1, 3s, 30);
}

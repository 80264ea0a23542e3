// The values that check.sh prints, and the calls that it steps through, in gdb.
#include <latchkey/latchkey.hpp>

#include <chrono>
#include <string>
#include <utility>

using namespace std::chrono_literals;
using latchkey::LockType;

namespace {

long balance = 0;

long deposit(int id, long amount) {
  return LOCKED("account:{id}") AROUND(id, amount) {  // gdb: a decorated call
    balance += amount;                                // gdb: its body
    return balance;
  };
}

}  // namespace

int main() {
  const latchkey::Locks locks = latchkey::Locks::connect("memory:");
  latchkey::install(locks);
  const auto lock = locks.lock("order:42", LockType::FAIR);
  const latchkey::Hold hold = locks.lock("order:43").acquire(1s, 30s);
  const latchkey::Hold long_hold = locks.lock(std::string(80, 'k')).acquire(1s, 30s);
  const latchkey::Hold several = locks.all_of({locks.lock("a"), locks.lock("b")}).acquire(1s, 30s);
  latchkey::Hold empty = locks.lock("order:44").acquire(1s, 30s);
  const latchkey::Hold moved = std::move(empty);
  const latchkey::Wait wait = 3s;
  const latchkey::Wait endless = latchkey::forever;
  const latchkey::Lease lease = 30s;
  const latchkey::Lease renewed = latchkey::watchdog;
  const latchkey::Owner nobody = latchkey::Owner::nobody();
  deposit(7, wait.is_forever() ? 0 : 1);  // gdb: all of them exist
  return static_cast<int>(endless.is_forever() && renewed.is_watchdog() && nobody.number() == 0 &&
                          lease.length(1s) == 30s)
             ? 0
             : 1;
}

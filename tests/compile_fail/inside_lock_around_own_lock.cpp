// expect: latchkey: this aspect belongs inside the lock \(belongs_inside_lock\): a transaction around its lock commits after the release
// A transaction around an aspect that takes a lock by other means.
#include <latchkey/latchkey.hpp>

/// As a transaction: commits after the body.
struct InTransaction : latchkey::Aspect {
  static constexpr bool belongs_inside_lock = true;

  template <class Proceed>
  decltype(auto) around(latchkey::JoinPoint&, Proceed&& proceed) const {
    return proceed();
  }
};

struct FileLocked : latchkey::Aspect {
  static constexpr bool takes_lock = true;

  template <class Proceed>
  decltype(auto) around(latchkey::JoinPoint&, Proceed&& proceed) const {
    return proceed();
  }
};

int pay(int account) {
  return InTransaction() | FileLocked() AROUND(account) { return account; };
}

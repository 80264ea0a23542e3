// expect: latchkey: this aspect belongs inside the lock \(belongs_inside_lock\): a transaction around its lock commits after the release
// A transaction around a callable that takes its lock.
#include <latchkey/latchkey.hpp>

/// As a transaction: commits after the body.
struct InTransaction : latchkey::Aspect {
  static constexpr bool belongs_inside_lock = true;

  template <class Proceed>
  decltype(auto) around(latchkey::JoinPoint&, Proceed&& proceed) const {
    return proceed();
  }
};

int call() {
  const auto pay = (LOCKED("account:{0}"))([](int account) { return account; });
  return latchkey::decorate(InTransaction(), pay)(1);
}

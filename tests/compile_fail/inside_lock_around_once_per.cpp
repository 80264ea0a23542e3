// expect: latchkey: this aspect belongs inside the lock \(belongs_inside_lock\): a transaction around its lock commits after the release
// A transaction around a job that is recorded as done.
#include <latchkey/latchkey.hpp>

/// As a transaction: commits after the body.
struct InTransaction : latchkey::Aspect {
  static constexpr bool belongs_inside_lock = true;

  template <class Proceed>
  decltype(auto) around(latchkey::JoinPoint&, Proceed&& proceed) const {
    return proceed();
  }
};

void report() {
  using namespace std::chrono_literals;
  InTransaction() | LOCKED_ONCE_PER("report", 24h) AROUND(){};
}

// Every macro, for a compiler that instruments what it compiles: users' CI has
// -fsanitize=address,undefined, with which GCC evaluates fewer constant expressions.
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/latchkey.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  int id;
  std::string name;
};
struct Order {
  int id;
  std::vector<Account> lines;
};
struct Log : latchkey::Aspect {
  template <class Proceed>
  auto around(latchkey::JoinPoint& /*call*/, Proceed&& proceed) const {
    return std::forward<Proceed>(proceed)();
  }
};

class Service {
 public:
  int one(const Account& account) {
    return LOCKED("k:{account.id}", LockType::WRITE, 3s, 30s) AROUND(account) {
      return account.id;
    };
  }
  int several(const Account& from, const Account& to) {
    return LOCKED(KEYS("k:{from.id}", "k:{to.id}"), LockType::WRITE, 3s, 30s) AROUND(from, to) {
      return from.id;
    };
  }
  int each(const Order& order) {
    return LOCKED("k:{order.lines[*].id}") AROUND(order) { return order.id; };
  }
  int by_policy(const Order& order) {
    return LOCKED_BY("money") AROUND(order) { return order.id; };
  }
  bool scope(const Order& order) {
    auto hold = LOCKED("k:{order.id}").on_timeout(latchkey::strategy::skip) HERE(order);
    ASSERT_HELD("k:{order.id}", order);
    return hold.has_value();
  }
  int nested(int id) {
    return LOCKED("k:{id}").named<"outer">() | LOCKED("z:{id}") AROUND(id) { return id; };
  }
  int inside(int id) {
    return Log{} | LOCKED("z:{id}").named<"inner">() | Log {}
    AROUND(id) { return id; };
  }
  void once(int id) {
    LOCKED_ONCE_PER("job:{id}", 24h) AROUND(id) { static_cast<void>(id); };
  }
  DECORATED(LOCKED("account:{account.id}", LockType::READ, 3s, 30s), int, decorated, (const),
            (const Account&)account) {
    return account.id;
  }
  DECORATED(Log{} | LOCKED(KEYS("a:{account.id}", "b:{account.name}")), (static int), combined,
            (const Account&)account, (int)other) {
    return account.id + other;
  }
};

auto refresh = LOCKED("cache:{0}", LockType::REENTRANT, 1s,
                      10s)([](const std::string& region) { return region.size(); });

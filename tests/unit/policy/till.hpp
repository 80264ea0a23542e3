// Decorated methods that the tests' policy files name.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include <latchkey/decorate.hpp>
#include <latchkey/detail/reflect.hpp>
#include <latchkey/held.hpp>

namespace till {

using latchkey::LockType;
using namespace std::chrono_literals;

struct Account {
  int id = 0;
  std::string name;
  double rate = 0;
  LATCHKEY_REFLECT(Account);
};

/// The lock as its body saw it.
struct Seen {
  bool locked = false;
  std::string key;
  LockType type = LockType::REENTRANT;
  std::chrono::milliseconds lease{0};
};

inline Seen look() {
  latchkey::Hold* const hold = latchkey::current_hold();
  if (hold == nullptr) return {};
  return {true, std::string(hold->key()), hold->type(), hold->remaining()};
}

class Till {
 public:
  Seen deposit(const Account& account) {
    return LOCKED("till:{account.id}", LockType::WRITE, 3s, 30s) AROUND(account) { return look(); };
  }
  DECORATED(LOCKED("till:{account.id}"), Seen, withdraw, (const Account&) account) {
    static_cast<void>(account);
    return look();
  }
  std::optional<Seen> peek(const Account& account) {
    return LOCKED("till:{account.id}", LockType::WRITE, 20s, 30s) AROUND(account)
        ->std::optional<Seen> {
      return look();
    };
  }
  void close() noexcept { LOCKED("till").no_throw() AROUND() noexcept {}; }
  int count(int shelf) {
    return LOCKED("shelf:{shelf}", LockType::WRITE, 1ms, 30s)
        .on_timeout(latchkey::strategy::skip_with(-1)) AROUND(shelf) {
      return shelf;
    };
  }
  void move(int from, int to) { LOCKED("shelf:{from}") | LOCKED("shelf:{to}") AROUND(from, to){}; }
  void during(const Account& account, const std::function<void()>& work) {
    LOCKED("till:{account.id}") AROUND(account) { work(); };
  }
  Seen pay(const Account& account) {
    return LOCKED_BY("money") AROUND(account) { return look(); };
  }
  Seen browse(const Account& account) {
    auto hold = LOCKED("till:{account.id}", LockType::WRITE, 3s, 30s) HERE(account);
    return {true, std::string(hold.key()), hold.type(), hold.remaining()};
  }
  bool leaf(const Account& account) {
    auto hold = LOCKED("till:{account.id}", LockType::WRITE, 20s, 30s)
                    .on_timeout(latchkey::strategy::skip) HERE(account);
    return hold.has_value();
  }
};

}  // namespace till

// expect: 'citty' is no field of Address; expected one of city
// A wrong field of a field.
#include <latchkey/annotations.hpp>

using namespace std::chrono_literals;
using latchkey::LockType;

struct Account {
  long id = 1;
  double balance = 0;
  const char* owner = "";
};

struct Address {
  int city = 1;
};
struct Order {
  long id = 1;
  Address address{};
};

struct Bank {
  [[= latchkey::locked("account:{order.address.citty}")]] long deposit(const Order& order) {
    LOCK_ANNOTATED;
    return order.id;
  }
};

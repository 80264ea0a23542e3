// Locks configured by a policy file: LOCKED_BY takes everything from the file, a rule overrides
// what LOCKED states, and a reload applies a changed file. Pass a file of your own to have it
// checked.
#include <latchkey/latchkey.hpp>

#include <fmt/core.h>

#include <optional>
#include <vector>

struct Item {
  int id = 0;
  LATCHKEY_REFLECT(Item);
};

class Shop {
 public:
  void sell(const Item& item) {
    LOCKED_BY("stock") AROUND(item) {
      fmt::print("selling under the {} lock '{}'\n",
                 latchkey::to_string(latchkey::current_hold()->type()),
                 latchkey::current_hold()->key());
      --stock_;
    };
  }
  std::optional<int> count(int shelf) {
    return LOCKED("shelf:{shelf}", latchkey::LockType::READ) AROUND(shelf)->std::optional<int> {
      return stock_;
    };
  }

 private:
  int stock_ = 3;
};

int main(int argc, char** argv) {
  const char* const file = argc > 1 ? argv[1] : "latchkey.yaml";
  const std::vector<latchkey::PolicyError> mistakes = latchkey::check_policy_file(file);
  for (const latchkey::PolicyError& mistake : mistakes) fmt::print("{}\n", mistake.what());
  if (!mistakes.empty()) return 1;

  latchkey::install_from(file);
  Shop shop;
  shop.sell(Item{42});
  latchkey::reload_policies();  // as a service does on SIGHUP
  shop.sell(Item{43});
  fmt::print("{} left\n", shop.count(1).value_or(-1));
}

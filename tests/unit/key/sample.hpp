// Types that the tests of keys render: one of each kind that a key can access.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <latchkey/detail/reflect.hpp>

namespace sample {

enum class Color : std::int8_t { NONE = -1, RED = 3 };
enum Plain : unsigned { ZERO, ONE };

struct Address {
  std::string zip;
  int number = 0;
  LATCHKEY_REFLECT(Address);
};

// The hook returns its text.
struct Tone {
  std::string text;
};
inline std::string latchkey_key(const Tone& tone) { return tone.text + ":"; }

struct Account {
  std::int64_t id = 0;
  std::string name;
  bool open = false;
  char grade = 'a';
  Color color = Color::RED;
  std::uint64_t big = 0;
  std::optional<int> limit;
  std::optional<std::string> nick;
  std::unique_ptr<Address> home;
  std::vector<int> days;
  std::vector<Address> past;
  std::map<std::string, int> tags;
  std::unordered_map<int, std::string> notes;
  const char* label = nullptr;
  std::vector<std::byte> digest;
  std::chrono::milliseconds delay{};
  std::optional<std::chrono::sys_time<std::chrono::microseconds>> paid;
  Tone tone;
};
LATCHKEY_REFLECT(Account);

// Private members, a getter by value, a character array: what PFR cannot see.
class Customer {
 public:
  Customer(int id, std::string name) : id_(id), name_(std::move(name)) {}
  LATCHKEY_FIELDS(Customer, id_, name, code, account);

  [[nodiscard]] std::string name() const { return name_ + "!"; }
  [[nodiscard]] const Account& account() const { return account_; }

  char code[4] = {'a', 'b', 'c', 'd'};

 private:
  int id_;
  std::string name_;
  Account account_;
};

// A third party's type. The hook returns its text.
struct Order {
  int number = 0;
  [[nodiscard]] int day() const { return number % 7; }
};
constexpr auto latchkey_fields(latchkey::reflect::tag<Order>) {
  using latchkey::reflect::Field;
  return latchkey::reflect::FieldList<
      Field<"id", &Order::number>, Field<"day", [](const Order& order) { return order.day(); }>>{};
}

inline std::string random_text(std::mt19937_64& random) {
  static constexpr std::string_view bytes = "aZ09-_.%{}:/,|#' \t\x7F\xC3\xA9\x01~+^";
  std::string text(random() % 40, '\0');
  for (char& byte : text) byte = bytes[random() % bytes.size()];
  return text;
}

inline Account random_account(std::mt19937_64& random) {
  Account account;
  account.id = static_cast<std::int64_t>(random()) >> (random() % 64);
  account.name = random_text(random);
  account.open = random() % 2 != 0;
  account.grade = static_cast<char>(random());
  account.color = random() % 2 != 0 ? Color::RED : Color::NONE;
  account.big = random() >> (random() % 64);
  if (random() % 2 != 0) account.limit = static_cast<int>(random());
  if (random() % 2 != 0) account.nick = random_text(random);
  if (random() % 2 != 0) {
    account.home = std::make_unique<Address>(
        Address{random_text(random), static_cast<int>(random() % 1000) - 500});
  }
  for (std::size_t i = random() % 4; i > 0; --i) {
    account.days.push_back(static_cast<int>(random()));
    account.past.push_back({random_text(random), static_cast<int>(i)});
  }
  if (random() % 2 != 0) account.tags["vip"] = static_cast<int>(random() % 10);
  if (random() % 2 != 0) account.notes[7] = random_text(random);
  if (random() % 2 != 0) account.label = "la:bel";
  account.digest.resize(random() % 100);
  for (std::byte& byte : account.digest) byte = static_cast<std::byte>(random());
  account.delay = std::chrono::milliseconds(static_cast<std::int64_t>(random()) >> random() % 64);
  const std::chrono::microseconds since(static_cast<std::int64_t>(random()) >> random() % 64);
  if (random() % 2 != 0) account.paid.emplace(since);
  account.tone.text = random_text(random);
  return account;
}

}  // namespace sample

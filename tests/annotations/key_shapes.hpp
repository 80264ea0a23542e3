// Objects of all shapes and the keys that are made from them. The file is compiled twice: with the
// macros of C++20, and with reflection, where SHAPE_FIELDS declares nothing.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <latchkey/detail/reflect.hpp>
#include <latchkey/key.hpp>

#include "annotations/keys.hpp"

namespace SHAPES_NAMESPACE {

enum class State : std::uint8_t { open = 1, closed = 7 };

struct Address {
  std::string city = "Köln";
  int code = 50667;
};

/// An aggregate, which PFR reads.
struct Plain {
  int id = 42;
  unsigned long long big = 18446744073709551615ULL;
  std::int8_t small = -128;
  bool flag = true;
  char letter = 'x';
  State state = State::closed;
  std::string name = "a:b/c%d";
  std::string_view view = "v";
  const char* text = "literal";
  Address address{};
  std::optional<int> maybe = 5;
  std::vector<std::string> names{"one", "two"};
  std::map<std::string, int> ages{{"ann", 30}};
  std::map<int, std::string> by_number{{3, "three"}};
  std::pair<int, std::string> pair{1, "second"};
  std::chrono::milliseconds time{1500};
  std::vector<std::byte> bytes{std::byte{0xde}, std::byte{0xad}};
  std::shared_ptr<Address> shared = std::make_shared<Address>();
  Address* pointer = shared.get();
};

class Private {
 public:
  explicit Private(int id) : id_(id) {}
  [[nodiscard]] int id() const { return id_; }
  [[nodiscard]] std::string made() const { return "made" + std::to_string(id_); }
  [[nodiscard]] const Address& address() const { return address_; }

 private:
  int id_;
  std::string secret_ = "s";
  Address address_{};

 public:
  SHAPE_FIELDS(Private, id_, secret_, address_, id, made, address);
};

class Base {
 public:
  int number = 3;

 protected:
  int inner_ = 4;

 public:
  SHAPE_FIELDS(Base, number, inner_);
};
class Derived : public Base {
 public:
  int own = 5;
  SHAPE_FIELDS(Derived, own, number, inner_);
};
class HiddenBase : private Base {
 public:
  int number = 6;  // hides the base's
  [[nodiscard]] int inner() const { return inner_; }
  SHAPE_FIELDS(HiddenBase, number, inner);
};
class Polymorphic {
 public:
  virtual ~Polymorphic() = default;
  int id = 8;
  SHAPE_FIELDS(Polymorphic, id);
};

struct Arrays {
  int numbers[3] = {1, 2, 3};
  char letters[8] = "abc";
  std::array<int, 2> more{4, 5};
  SHAPE_FIELDS(Arrays, numbers, letters, more);
};

struct Bits {
  unsigned low : 3 = 5;
  int high : 5 = -3;
  [[nodiscard]] int low_bits() const { return static_cast<int>(low); }
  [[nodiscard]] int high_bits() const { return high; }
  SHAPE_FIELDS(Bits, low_bits, high_bits);
};

struct Hooked {
  int a = 1;
  int b = 2;
};
[[maybe_unused]] std::string latchkey_key(const Hooked& hooked) {
  return std::to_string(hooked.a) + "-" + std::to_string(hooked.b);
}
struct HoldsHooked {
  Hooked hooked{};
};

struct References {
  const int& number;
  Address& address;
  [[nodiscard]] int number_value() const { return number; }
  [[nodiscard]] const Address& address_value() const { return address; }
  SHAPE_FIELDS(References, number_value, address_value);
};

template <latchkey::FixedString Key, class T>
void put(Rendered& out, const T& a) {
  out.emplace_back(Key.view(), latchkey::Key<Key>::template render_many<"a">(a));
}

inline Rendered render() {
  Rendered out;
  const Plain plain;
  put<"{a.id}">(out, plain);
  put<"#a.big">(out, plain);
  put<"'k:' + #a.small">(out, plain);
  put<"{a.flag}:{a.letter}:{a.state}">(out, plain);
  put<"{a.name}">(out, plain);
  put<"raw:{raw(a.name)}">(out, plain);
  put<"{a.view}/{a.text}">(out, plain);
  put<"{a.address.city}:{a.address.code}">(out, plain);
  put<"{a.maybe}">(out, plain);
  put<"{a.names[1]}:{size(a.names)}">(out, plain);
  put<"{a.names[*]}">(out, plain);
  put<"{a.ages['ann']}">(out, plain);
  put<"{a.by_number[3]}">(out, plain);
  put<"{a.pair.first}:{a.pair.second}">(out, plain);
  put<"{a.time}">(out, plain);
  put<"{a.bytes}">(out, plain);
  put<"{a.shared.city}:{a.pointer.code}">(out, plain);
  put<"{a.id % 16}:{hash(a.name) % 8}:{upper(a.view)}">(out, plain);
  const Private secret(11);
  put<"{a.id_}:{a.secret_}:{a.address_.city}">(out, secret);
  put<"{a.id}:{a.made}:{a.address.code}">(out, secret);
  put<"{a.own}:{a.number}:{a.inner_}">(out, Derived());
  put<"{a.number}:{a.inner}">(out, HiddenBase());
  put<"{a.id}">(out, Polymorphic());
  put<"{a.numbers[2]}:{a.letters}:{a.more[0]}">(out, Arrays());
  put<"{a.numbers[*]}">(out, Arrays());
  put<"{a.low_bits}:{a.high_bits}">(out, Bits());
  put<"{a.hooked}">(out, HoldsHooked());
  const int number = 9;
  Address address;
  const References references{number, address};
  put<"{a.number_value}:{a.address_value.city}">(out, references);
  put<"{a[1].code}">(out, std::vector<Address>(2));
  return out;
}

}  // namespace SHAPES_NAMESPACE

// Any bytes as a key from a file: parsed, bound to a call of every kind of argument, rendered. The
// input's first byte chooses how much of the arguments is absent; the rest is the key.
//
// Covers: src/key include/latchkey/detail/key/cursor.hpp
// include/latchkey/detail/key/interpreter.hpp Covers: include/latchkey/detail/key/parser.hpp
// include/latchkey/detail/key/path_parser.hpp Covers: include/latchkey/detail/key/write.hpp
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ratio>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/parsed_key.hpp>

#include "fuzz/require.hpp"
#include "unit/key/sample.hpp"

namespace sample {

struct Isbn {
  std::uint8_t number = 0;
  friend std::string latchkey_key(const Isbn& isbn) {
    return std::string(isbn.number, '-') + std::to_string(isbn.number);
  }
};

/// Values whose text is made while the key is rendered.
struct Event {
  std::chrono::sys_time<std::chrono::nanoseconds> instant{};
  std::chrono::sys_days day{};
  std::chrono::nanoseconds length{};
  std::chrono::duration<std::int64_t, std::ratio<86'400>> age{};
  std::array<std::byte, 16> id{};
  Isbn isbn{};
};
LATCHKEY_REFLECT(Event);

}  // namespace sample

namespace {

using latchkey::KeyBuffer;
using latchkey::fuzz::require;
using sample::Account;
using sample::Customer;
using sample::Event;
using sample::Order;

struct Hidden {
  int id = 1;
};

Event event_for(std::uint8_t presence) {
  const std::int64_t sign = presence % 2 == 0 ? 1 : -1;
  const std::int64_t large = std::int64_t{1} << (presence % 62);
  Event event;
  event.instant += std::chrono::nanoseconds(sign * large);
  event.day += std::chrono::days(sign * (large % 4'000'000));
  event.length = std::chrono::nanoseconds(sign * large);
  event.age = decltype(event.age)(sign * large);
  event.id.fill(std::byte{presence});
  event.isbn.number = presence;
  return event;
}

Account account_for(std::uint8_t presence) {
  Account account;
  account.id = presence % 2 != 0 ? -42 : 42;
  account.open = presence % 2 != 0;
  if ((presence & 1) != 0) account.name = "na/me";
  if ((presence & 2) != 0) account.limit = 7;
  if ((presence & 4) != 0) account.nick = std::string(600, ':');
  if ((presence & 8) != 0) {
    account.home = std::make_unique<sample::Address>(sample::Address{"10115", -3});
  }
  if ((presence & 16) != 0) account.days = {1, -2, 3};
  if ((presence & 32) != 0) account.past = {{"a", 1}, {"", 2}};
  if ((presence & 64) != 0) account.tags["vip"] = 1;
  if ((presence & 64) != 0) account.notes[7] = "seven is a long enough text for a heap";
  if ((presence & 128) != 0) account.label = "la:bel";
  return account;
}

void require_a_key(std::string_view key) {
  require(!key.empty() && key.size() <= latchkey::max_key_size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Account account = account_for(data[0]);
  const Customer customer(data[0], "name");
  const Order order{data[0]};
  const Account* const pointer = data[0] < 128 ? &account : nullptr;
  const auto wrapped = std::cref(account);
  const double number = 1.5;
  const Hidden hidden;
  const Event event = event_for(data[0]);
  const auto arguments = latchkey::argument_pointers(account, customer, order, wrapped, pointer,
                                                     "li:t", number, hidden, account.days, event);
  static constexpr latchkey::Schema schema =
      latchkey::schema_of<"a, c, o, w, p, t, d, h, v, e", Account, Customer, Order,
                          std::reference_wrapper<const Account>, const Account*, char[5], double,
                          Hidden, std::vector<int>, Event>();
  static constexpr latchkey::Schema nameless = latchkey::schema_of<"", Account>();
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    const auto parsed = latchkey::parse_key(text);
    require(parsed.text() == text);
    const auto key = latchkey::bind_key(parsed, size % 7 == 0 ? nameless : schema);
    require(key.text() == text && key.many() == parsed.many());
    for (const std::string& one : key.render_many(arguments)) require_a_key(one);
    KeyBuffer out;
    key.render(out, arguments);
    require_a_key(out.view());
    const std::string first(out.view());
    key.render(out, arguments);
    require(out.view() == first);
  } catch (const latchkey::KeyError& error) {
    require(!std::string_view(error.what()).empty());
  }
  return 0;
}

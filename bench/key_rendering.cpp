// Compares key rendering with fmt. Each pair renders the same bytes. Targets: compiled keys are at
// least twice as fast as fmt::format and not slower than format_to with FMT_COMPILE into a stack
// buffer; text has some tolerance, because a key escapes what fmt copies. Parsed keys may take
// three times as long as fmt::format.
#include <benchmark/benchmark.h>
#include <fmt/compile.h>
#include <fmt/format.h>

#include <string>

#include <latchkey/key.hpp>
#include <latchkey/parsed_key.hpp>

#include "side_by_side.hpp"

namespace {

namespace bench = latchkey::bench;

struct Account {
  int id;
  std::string name;
  LATCHKEY_REFLECT(Account);
};

/// Calls `render(account)` repeatedly and hides from the optimiser that the account is always the
/// same.
template <class Render>
auto repeat(Render render) {
  return [render](int operations) {
    Account account{20260731, "ada.lovelace-1815"};
    for (int i = 0; i < operations; ++i) {
      benchmark::DoNotOptimize(account);
      render(account);
      benchmark::ClobberMemory();
    }
  };
}

template <latchkey::FixedString Template>
auto compiled() {
  return repeat([](const Account& account) {
    latchkey::KeyBuffer out;
    latchkey::Key<Template>::template render<"account">(out, account);
    benchmark::DoNotOptimize(out.view().data());
  });
}

auto parsed(const latchkey::BoundKey& key) {
  return repeat([&key](const Account& account) {
    latchkey::KeyBuffer out;
    key.render(out, latchkey::argument_pointers(account));
    benchmark::DoNotOptimize(out.view().data());
  });
}

latchkey::BoundKey bound(std::string_view text) {
  return latchkey::bind_key(latchkey::parse_key(text), latchkey::schema_of<"account", Account>());
}

void into_buffer(const Account& account) {
  char buffer[64];
  char* end = fmt::format_to(buffer, FMT_COMPILE("account:{}"), account.id);
  benchmark::DoNotOptimize(end);
}
void both_into_buffer(const Account& account) {
  char buffer[64];
  char* end = fmt::format_to(buffer, FMT_COMPILE("account:{}:{}"), account.id, account.name);
  benchmark::DoNotOptimize(end);
}
void into_string(const Account& account) {
  std::string key = fmt::format("account:{}", account.id);
  benchmark::DoNotOptimize(key.data());
}
void both_into_string(const Account& account) {
  std::string key = fmt::format("account:{}:{}", account.id, account.name);
  benchmark::DoNotOptimize(key.data());
}

}  // namespace

int main() {
  constexpr int operations = 1'000'000;
  constexpr const char* id_text = "account:{account.id}";
  constexpr const char* both_text = "account:{account.id}:{account.name}";
  const latchkey::BoundKey id_key = bound(id_text);
  const latchkey::BoundKey both_key = bound(both_text);
  const auto id = compiled<"account:{account.id}">();
  const auto both = compiled<"account:{account.id}:{account.name}">();

  bench::pin_to(0);
  bench::print_header("fmt");
  bool held = true;
  const auto pair = [&](const char* what, double limit, const auto& ours, const auto& peer) {
    held &= bench::compare(what, operations, limit, ours, peer);
  };
  pair("compiled, a number | fmt::format", 0.5, id, repeat(into_string));
  pair("compiled, a number | FMT_COMPILE, buffer", 1.0, id, repeat(into_buffer));
  pair("compiled, number and text | fmt::format", 0.5, both, repeat(both_into_string));
  pair("compiled, number and text | FMT_COMPILE", 1.5, both, repeat(both_into_buffer));
  pair("parsed, a number | fmt::format", 3.0, parsed(id_key), repeat(into_string));
  pair("parsed, number and text | fmt::format", 3.0, parsed(both_key), repeat(both_into_string));
  return held ? 0 : 1;
}

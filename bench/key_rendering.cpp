// Rendering keys, beside fmt. Every pair renders the same bytes. Ratios worth keeping: compiled
// keys at least twice as fast as fmt::format and no slower than format_to with FMT_COMPILE into a
// stack buffer; parsed keys at most three times fmt::format.
#include <benchmark/benchmark.h>
#include <fmt/compile.h>
#include <fmt/format.h>

#include <string>

#include <latchkey/key.hpp>
#include <latchkey/key/parsed_key.hpp>

namespace {

struct Account {
  int id;
  std::string name;
  LATCHKEY_REFLECT(Account);
};

Account one() { return {20260731, "ada.lovelace-1815"}; }

template <latchkey::FixedString Template>
void compiled(benchmark::State& state) {
  Account account = one();
  for (auto _ : state) {
    benchmark::DoNotOptimize(account);
    latchkey::KeyBuffer out;
    latchkey::Key<Template>::template render<"account">(out, account);
    benchmark::DoNotOptimize(out.view().data());
    benchmark::ClobberMemory();
  }
}

template <latchkey::FixedString Template>
void parsed(benchmark::State& state) {
  Account account = one();
  const auto key = latchkey::bind_key(latchkey::parse_key(Template.view()),
                                      latchkey::schema_of<"account", Account>());
  for (auto _ : state) {
    benchmark::DoNotOptimize(account);
    latchkey::KeyBuffer out;
    key.render(out, latchkey::argument_pointers(account));
    benchmark::DoNotOptimize(out.view().data());
    benchmark::ClobberMemory();
  }
}

void id_latchkey_compiled(benchmark::State& state) { compiled<"account:{account.id}">(state); }
void id_latchkey_parsed(benchmark::State& state) { parsed<"account:{account.id}">(state); }

void id_fmt_format(benchmark::State& state) {
  Account account = one();
  for (auto _ : state) {
    benchmark::DoNotOptimize(account);
    std::string key = fmt::format("account:{}", account.id);
    benchmark::DoNotOptimize(key.data());
    benchmark::ClobberMemory();
  }
}

void id_fmt_compile(benchmark::State& state) {
  Account account = one();
  for (auto _ : state) {
    benchmark::DoNotOptimize(account);
    char buffer[64];
    char* end = fmt::format_to(buffer, FMT_COMPILE("account:{}"), account.id);
    benchmark::DoNotOptimize(end);
    benchmark::ClobberMemory();
  }
}

void two_latchkey_compiled(benchmark::State& state) {
  compiled<"account:{account.id}:{account.name}">(state);
}
void two_latchkey_parsed(benchmark::State& state) {
  parsed<"account:{account.id}:{account.name}">(state);
}

void two_fmt_format(benchmark::State& state) {
  Account account = one();
  for (auto _ : state) {
    benchmark::DoNotOptimize(account);
    std::string key = fmt::format("account:{}:{}", account.id, account.name);
    benchmark::DoNotOptimize(key.data());
    benchmark::ClobberMemory();
  }
}

void two_fmt_compile(benchmark::State& state) {
  Account account = one();
  for (auto _ : state) {
    benchmark::DoNotOptimize(account);
    char buffer[64];
    char* end = fmt::format_to(buffer, FMT_COMPILE("account:{}:{}"), account.id, account.name);
    benchmark::DoNotOptimize(end);
    benchmark::ClobberMemory();
  }
}

BENCHMARK(id_latchkey_compiled);
BENCHMARK(id_fmt_compile);
BENCHMARK(id_latchkey_parsed);
BENCHMARK(id_fmt_format);
BENCHMARK(two_latchkey_compiled);
BENCHMARK(two_fmt_compile);
BENCHMARK(two_latchkey_parsed);
BENCHMARK(two_fmt_format);

}  // namespace

BENCHMARK_MAIN();

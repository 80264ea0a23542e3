// Which result types mean that the work is complete when the call returns.
#include <latchkey/completes_at_return.hpp>

#include <gtest/gtest.h>

#include <any>
#include <atomic>
#include <coroutine>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace {

struct Task {
  struct promise_type {};
};
struct Awaitable {
  bool await_ready();
};
struct Generic {
  template <class T>
  void operator()(T) {}
};
struct Done {
  void operator()() const {}
};
struct Ready {
  int get();
  void wait();
  bool valid();
};
struct Plain {
  int value;
};

}  // namespace

template <>
inline constexpr bool latchkey::completes_at_return<Done> = true;
template <>
inline constexpr bool latchkey::completes_at_return<Ready> = true;

namespace {

using latchkey::completes_at_return;

struct HoldsFuture {
  int id;
  std::string name;
  std::future<int> result;
};
struct HoldsAHolder {
  HoldsFuture inner;
  int after = 0;
};
struct HoldsThreads {
  std::vector<std::thread> workers;
};
struct HoldsAnArray {
  std::future<int> results[2];
};
struct IsAFuture : std::future<void> {};
struct HoldsAnything {
  std::any value;
  std::function<void()> later;
  std::mutex mutex;
  std::atomic<int> count;
  const int fixed = 1;
};
struct HoldsBits {
  unsigned open : 1;
  unsigned : 0;
  unsigned kind : 3;
  union {
    int a;
    float b;
  };
  char text[40];
};
struct HoldsReferences {
  int& number;
  std::string&& text;
  void (*function)();
};
struct HoldsReady {
  Ready ready;
};
struct Chain {
  int value;
  std::unique_ptr<Chain> next;
  std::vector<Chain> all;
};
struct Wide {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
  std::string q;
};

static_assert(completes_at_return<void>);
static_assert(completes_at_return<int>);
static_assert(completes_at_return<int*>);
static_assert(completes_at_return<Plain>);
static_assert(completes_at_return<std::string>);
static_assert(completes_at_return<std::string_view>);
static_assert(completes_at_return<std::span<int>>);
static_assert(completes_at_return<std::optional<int>>);
static_assert(completes_at_return<std::unique_ptr<int>>);
static_assert(completes_at_return<std::vector<int>>);
static_assert(completes_at_return<const std::future<int>&>, "it is somebody else's");
static_assert(completes_at_return<Done>, "it says so itself");
static_assert(!completes_at_return<std::future<int>>);
static_assert(!completes_at_return<std::thread>);
static_assert(!completes_at_return<std::jthread>);
static_assert(!completes_at_return<HoldsFuture>);
static_assert(!completes_at_return<HoldsAHolder>);
static_assert(!completes_at_return<HoldsThreads>);
static_assert(!completes_at_return<HoldsAnArray>);
static_assert(!completes_at_return<IsAFuture>);
static_assert(!completes_at_return<std::optional<std::future<int>>>);
static_assert(!completes_at_return<std::pair<int, std::future<int>>>);
static_assert(!completes_at_return<std::vector<std::shared_future<int>>>);
static_assert(!completes_at_return<std::tuple<int, HoldsFuture>>);
static_assert(!completes_at_return<std::unique_ptr<std::thread>>);
static_assert(completes_at_return<HoldsAnything>, "a callable among its data is data");
static_assert(completes_at_return<HoldsBits>);
static_assert(completes_at_return<HoldsReferences>);
static_assert(completes_at_return<HoldsReady>, "what it holds says that it is done");
static_assert(completes_at_return<std::optional<Ready>>);
static_assert(completes_at_return<std::vector<Plain>>);
static_assert(completes_at_return<std::map<std::string, std::any>>);
static_assert(completes_at_return<Chain>, "it leads back to itself");
static_assert(completes_at_return<Wide>);
static_assert(!completes_at_return<std::shared_future<void>>);
static_assert(!completes_at_return<Task>);
static_assert(!completes_at_return<Awaitable>);
static_assert(!completes_at_return<std::suspend_always>);
static_assert(!completes_at_return<std::function<void()>>);
static_assert(!completes_at_return<Generic>);
static_assert(!completes_at_return<decltype([](auto) {})>);
static_assert(!completes_at_return<decltype(std::views::iota(1))>);
static_assert(!completes_at_return<std::packaged_task<void()>>);

TEST(CompletesAtReturn, IsCheckedWhenThisFileCompiles) {}

}  // namespace

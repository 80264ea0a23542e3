// Which results are taken for work that is done.
#include <latchkey/completes_at_return.hpp>

#include <gtest/gtest.h>

#include <coroutine>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
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
struct Plain {
  int value;
};

}  // namespace

template <>
inline constexpr bool latchkey::completes_at_return<Done> = true;

namespace {

using latchkey::completes_at_return;

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

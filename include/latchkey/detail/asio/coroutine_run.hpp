// Runs a LOCKED whose body is a coroutine.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <latchkey/detail/asio/body_cancellation.hpp>
#include <latchkey/detail/asio/coroutine_call.hpp>
#include <latchkey/detail/locked/locked_call.hpp>
#include <latchkey/error.hpp>
#include <latchkey/hold.hpp>

namespace latchkey::inline v1::detail {

/// The part that does not depend on types. The coroutine is one of its own (co_spawn), on a strand,
/// so that a cancellation reaches exactly the body: one of the coroutine that awaits the call, or
/// the loss of the lock. The strand is that of the call under LOCKED around it, or a new one.
class CoroutineRun : public BodyCancellation {
 public:
  template <class Options>
  CoroutineRun(const Options& options, const boost::asio::any_io_executor& caller)
      : CoroutineRun(std::make_shared<CoroutineCall>(options), caller) {}

  // --- by the coroutine of the call ---
  /// Acquires. The result is that of LockedCall::enter.
  boost::asio::awaitable<Entry> enter(const LockedSite& known, Site& site,
                                      const void* const* arguments);
  void enter_unlocked() noexcept { call_->enter(std::nullopt); }
  /// As LockedCall::decided.
  [[nodiscard]] Entry decided(Entry entry) noexcept;
  [[noreturn]] void name(const KeyError& error, Site& site, std::string_view key_template) {
    call_->name(error, site, key_template);
  }
  /// Releases after a body that returned, as LockedCall::leave. Not to be cancelled.
  boost::asio::awaitable<void> leave();

  /// At the end of the coroutine: nothing is cancelled after it, and the lock is released.
  class End {
   public:
    explicit End(CoroutineRun& run) noexcept : run_(run) {}
    End(const End&) = delete;
    End& operator=(const End&) = delete;
    ~End() { run_.end(); }

   private:
    CoroutineRun& run_;
  };

 protected:
  ~CoroutineRun() = default;

 private:
  CoroutineRun(std::shared_ptr<CoroutineCall> call, const boost::asio::any_io_executor& caller);

  boost::asio::awaitable<std::optional<Hold>> acquire();
  boost::asio::awaitable<void> release(Hold hold);
  void end() noexcept;

  const std::shared_ptr<CoroutineCall> call_;
};

/// Also the place of the result, from the end of the body until the awaiting coroutine takes it.
template <class Result>
class CoroutineRunOf final : public CoroutineRun {
 public:
  using CoroutineRun::CoroutineRun;

  template <class Make>
  void set(Make&& make) {
    result.emplace(make());
  }
  Result take() {
    if (error) std::rethrow_exception(std::move(error));
    return *std::move(result);
  }

  std::exception_ptr error{};
  std::optional<Result> result{};
};

template <>
class CoroutineRunOf<void> final : public CoroutineRun {
 public:
  using CoroutineRun::CoroutineRun;

  template <class Make>
  void set(Make&& make) {
    make();
  }
  void take() {
    if (error) std::rethrow_exception(std::move(error));
  }

  std::exception_ptr error{};
};

}  // namespace latchkey::inline v1::detail

// Runs a LOCKED whose body is a coroutine.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <type_traits>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <latchkey/asio/coroutine_call.hpp>
#include <latchkey/error.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/locked/locked_call.hpp>

namespace latchkey::inline v1::detail {

/// The part that does not depend on types. The coroutine is one of its own (co_spawn), on a strand,
/// so that a cancellation reaches exactly the body: one of the coroutine that awaits the call, or
/// the loss of the lock. The strand is that of the call under LOCKED around it, or a new one.
class CoroutineRun : public std::enable_shared_from_this<CoroutineRun> {
 public:
  template <class Options>
  CoroutineRun(const Options& options, const boost::asio::any_io_executor& caller)
      : CoroutineRun(std::make_shared<CoroutineCall>(options), caller) {}
  CoroutineRun(const CoroutineRun&) = delete;
  CoroutineRun& operator=(const CoroutineRun&) = delete;

  // --- by the coroutine that awaits the call ---
  [[nodiscard]] const boost::asio::any_io_executor& executor() const noexcept { return executor_; }
  [[nodiscard]] boost::asio::cancellation_slot slot() noexcept { return signal_.slot(); }
  void forward_cancellation(boost::asio::cancellation_slot from);

  // --- by the coroutine of the call ---
  boost::asio::awaitable<void> accept_all_cancellations();
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
  /// For the handler around the body. Returns the exception if the loss of the lock has ended the
  /// body, and throws all others again.
  [[nodiscard]] std::exception_ptr failed_in_body();

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
  /// Posts a cancellation to the coroutine.
  struct Cancel {
    std::weak_ptr<CoroutineRun> run;
    bool by_loss = false;
    void operator()() const noexcept { post(boost::asio::cancellation_type::terminal); }
    void operator()(boost::asio::cancellation_type type) const noexcept { post(type); }
    void post(boost::asio::cancellation_type type) const noexcept;
  };

  CoroutineRun(std::shared_ptr<CoroutineCall> call, const boost::asio::any_io_executor& caller);

  void cancel(boost::asio::cancellation_type type, bool by_loss);
  boost::asio::awaitable<std::optional<Hold>> acquire();
  boost::asio::awaitable<void> release(Hold hold);
  void end() noexcept;

  const std::shared_ptr<CoroutineCall> call_;
  const boost::asio::any_io_executor executor_;
  boost::asio::cancellation_signal signal_{};
  bool ended_ = false;
  bool lost_ = false;
  /// Of the acquire: LOCKED's cancel_with. Of the body: the loss of the lock.
  std::optional<std::stop_callback<Cancel>> stops_{};
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

// One call under LOCKED whose body is a coroutine, as code inside the body finds it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/attempt.hpp>
#include <latchkey/call_observer.hpp>
#include <latchkey/detail/locked/locked_call.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/lock.hpp>

namespace latchkey::inline v1::detail {

/// Kept alive by its coroutine and by the executors of the coroutine, which make it the innermost
/// call of each thread that resumes the coroutine, for as long as the coroutine runs there.
///
/// | stage   | innermost call of the coroutine                            |
/// |---------|------------------------------------------------------------|
/// | waiting | the coroutine's call around this one, if there is one      |
/// | running | this one: the body runs                                    |
/// | ended   | none: only coroutines that outlive the body may still run  |
class CoroutineCall : public std::enable_shared_from_this<CoroutineCall> {
 public:
  /// Made where the coroutine is awaited. `options` must live until the call has ended.
  template <class Options>
  explicit CoroutineCall(const Options& options) : call_(options), outer_(running()) {
    observe();
  }
  CoroutineCall(const CoroutineCall&) = delete;
  CoroutineCall& operator=(const CoroutineCall&) = delete;

  /// Renders the key or keys, by the policy if there is one, and checks the lock order. Throws what
  /// LockedCall::enter throws before it acquires.
  void prepare(const LockedSite& known, Site& site, const void* const* arguments);
  [[nodiscard]] const LockTerms& terms() const noexcept { return *call_.terms_; }
  [[nodiscard]] const std::stop_token* cancel() const noexcept { return call_.cancel_; }
  /// After prepare, unless the terms run the body unlocked.
  [[nodiscard]] Lock lock() const;
  [[nodiscard]] Attempt attempt() const;

  // --- for the CallObserver, if there is one ---
  void acquiring(Attempt& attempt) noexcept;
  void not_acquired(Entry entry, const Attempt& attempt) noexcept;
  /// For the handler around the acquire.
  void failed_to_acquire(const Attempt& attempt) noexcept;

  /// The body starts, with the lock or without it.
  void enter(std::optional<Hold> hold) noexcept;
  /// The body has ended. Empty: it ran without the lock.
  [[nodiscard]] std::optional<Hold> leave() noexcept;
  /// The coroutine has ended. Releases without waiting if its body was still running.
  void end() noexcept;
  /// For the release after leave().
  [[nodiscard]] std::chrono::milliseconds linger() const { return call_.linger(); }
  [[nodiscard]] Origin origin() const noexcept { return call_.origin_; }
  /// Throws LockLost for a hold that the body released, or that belongs to the parent of a fork.
  [[noreturn]] void throw_lost() const { call_.throw_lost(); }
  void failed_to_release() const { call_.failed_to_release(); }
  [[noreturn]] void name(const KeyError& error, Site& site, std::string_view key_template) {
    call_.name(error, site, key_template);
  }

  /// While a thread runs a part of the coroutine.
  class Running {
   public:
    explicit Running(CoroutineCall& call) noexcept
        : call_(call),
          innermost_(LockedCall::exchange_innermost(call.visible())),
          running_(std::exchange(innermost_running(), &call)),
          outer_(std::exchange(call.parts_, this)) {
      if (call.call_.observed_ != nullptr) [[unlikely]]
        call.enter_thread();
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running() {
      scope_.reset();
      call_.parts_ = outer_;
      LockedCall::exchange_innermost(innermost_);
      innermost_running() = running_;
    }

   private:
    friend class CoroutineCall;

    CoroutineCall& call_;
    LockedCall* innermost_;
    CoroutineCall* running_;
    Running* outer_;  ///< another one of this coroutine, which runs this one
    std::unique_ptr<CallScope> scope_{};
  };

 private:
  enum class Stage : std::uint8_t { waiting, running, ended };

  [[nodiscard]] static CoroutineCall*& innermost_running() noexcept;
  /// The call whose coroutine this thread runs; null: none.
  [[nodiscard]] static std::shared_ptr<CoroutineCall> running();
  [[nodiscard]] LockedCall* visible() noexcept;
  void change_stage(Stage stage) noexcept;
  void observe() noexcept;
  /// Tells the observer that this thread runs the body, if it does.
  void enter_thread() noexcept;
  void leave_thread() noexcept;
  /// The type to acquire. Throws std::invalid_argument if it was to have a fencing token, and has
  /// none here.
  [[nodiscard]] LockType type() const;

  LockedCall call_;
  const std::shared_ptr<CoroutineCall> outer_;
  std::vector<std::string> keys_{};  ///< several, or empty
  std::atomic<Stage> stage_{Stage::waiting};
  Running* parts_ = nullptr;  ///< the innermost, on the thread that runs the coroutine
};

}  // namespace latchkey::inline v1::detail

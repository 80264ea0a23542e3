// The executor of a coroutine under LOCKED.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>
#include <boost/asio/strand.hpp>

#include <latchkey/detail/asio/coroutine_call.hpp>

namespace latchkey::inline v1::detail {

/// Runs what an executor runs, with the call as the innermost of the thread. Asio resumes a
/// coroutine by its executor, on whichever thread.
class CoroutineExecutor {
 public:
  CoroutineExecutor(boost::asio::any_io_executor inner,
                    std::shared_ptr<CoroutineCall> call) noexcept
      : inner_(std::move(inner)), call_(std::move(call)) {}

  /// The executor of the coroutine around all calls under LOCKED.
  static boost::asio::any_io_executor outermost(const boost::asio::any_io_executor& executor) {
    const auto* const of_coroutine = executor.target<CoroutineExecutor>();
    if (of_coroutine == nullptr) return executor;
    using Strand = boost::asio::strand<boost::asio::any_io_executor>;
    return of_coroutine->inner().target<Strand>()->get_inner_executor();
  }
  /// The strand of the call under LOCKED that `executor` belongs to, or a new one over `executor`.
  static boost::asio::any_io_executor strand_of(const boost::asio::any_io_executor& executor) {
    const auto* const of_coroutine = executor.target<CoroutineExecutor>();
    if (of_coroutine != nullptr) return of_coroutine->inner();
    return boost::asio::make_strand(executor);
  }
  [[nodiscard]] const boost::asio::any_io_executor& inner() const noexcept { return inner_; }

  template <class Function>
  void execute(Function&& function) const {
    inner_.execute([call = call_, function = std::forward<Function>(function)]() mutable {
      const CoroutineCall::Running running(*call);
      std::move(function)();
    });
  }

  template <class Property>
    requires boost::asio::can_query_v<const boost::asio::any_io_executor&, Property>
  [[nodiscard]] auto query(const Property& property) const ->
      typename boost::asio::query_result<const boost::asio::any_io_executor&, Property>::type {
    return boost::asio::query(inner_, property);
  }
  template <class Property>
    requires boost::asio::can_require_v<const boost::asio::any_io_executor&, Property>
  [[nodiscard]] CoroutineExecutor require(const Property& property) const {
    return {boost::asio::require(inner_, property), call_};
  }
  template <class Property>
    requires boost::asio::can_prefer_v<const boost::asio::any_io_executor&, Property>
  [[nodiscard]] CoroutineExecutor prefer(const Property& property) const {
    return {boost::asio::prefer(inner_, property), call_};
  }

  friend bool operator==(const CoroutineExecutor& one, const CoroutineExecutor& other) noexcept {
    return one.call_ == other.call_ && one.inner_ == other.inner_;
  }

 private:
  boost::asio::any_io_executor inner_;
  std::shared_ptr<CoroutineCall> call_;
};

}  // namespace latchkey::inline v1::detail

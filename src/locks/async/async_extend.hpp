// An extension of a lease that no thread waits for.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <list>

#include <latchkey/hold.hpp>

#include "locks/async/access.hpp"
#include "locks/async/async_call.hpp"

namespace latchkey::inline v1::detail {

/// Extends what a Hold of one key or of several holds. Started once. It must not be destroyed while
/// it is pending. If the hold is released meanwhile, the extension ends as lost.
class AsyncExtend {
 public:
  explicit AsyncExtend(AsyncObserver& observer) noexcept : observer_(observer) {}

  /// Starts the extension. True: pending; the observer will be told. False: it has ended. Throws
  /// std::bad_alloc, and std::invalid_argument for a lease that the backend does not offer.
  bool start(const Hold& hold, std::chrono::milliseconds lease);

  /// The result, after the end: false if the hold was lost, or empty. Throws what Hold::extend
  /// throws.
  [[nodiscard]] bool result();

 private:
  /// The extension of one key.
  class Part final : public AsyncCall {
   public:
    Part(AsyncExtend& whole, const SingleHold& hold);

    const SingleHold hold;

   private:
    void answered() noexcept override { whole_.part_ended(); }

    AsyncExtend& whole_;
  };

  void prepare(const SingleHold& hold, std::chrono::milliseconds lease);
  void part_ended() noexcept;

  AsyncObserver& observer_;
  std::list<Part> parts_;
  std::atomic<std::size_t> pending_{1};  ///< parts without an answer, and one while they start
  bool lost_ = false;                    ///< the hold was empty, or the parent's of a fork
};

}  // namespace latchkey::inline v1::detail

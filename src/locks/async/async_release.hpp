// A release that no thread waits for and whose result is wanted.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <optional>

#include <latchkey/hold.hpp>

#include "locks/async/access.hpp"
#include "locks/async/async_call.hpp"
#include "locks/hold/multi_hold.hpp"

namespace latchkey::inline v1::detail {

/// Gives back what a Hold of one key or of several held. Started once. It must not be destroyed
/// while it is pending.
class AsyncRelease {
 public:
  explicit AsyncRelease(AsyncObserver& observer) noexcept : observer_(observer) {}

  /// Starts the release. True: pending; the observer will be told. False: it has ended. `hold` is
  /// empty afterwards, and is released in any case. The key stays locked for at least `linger`.
  /// Throws std::bad_alloc.
  bool start(Hold& hold, std::chrono::milliseconds linger);

  /// The result, after the end: false if the hold had been lost, or was empty. Throws what
  /// Hold::release throws. `context` as for Hold::give_back.
  [[nodiscard]] bool result(const ErrorContext* context);

 private:
  /// The release of one key.
  class Part final : public AsyncCall {
   public:
    Part(AsyncRelease& whole, const SingleHold& hold);
    /// After the end of its context the release ends on the thread that brought the answer, perhaps
    /// inside the backend of a space that nothing else keeps.
    ~Part() { drop_space_later(); }

   private:
    void answered() noexcept override { whole_.part_ended(); }

    AsyncRelease& whole_;
  };

  void start(Part& part, const SingleHold& hold, std::chrono::milliseconds linger);
  void start_one_of_several(const SingleHold& hold, std::chrono::milliseconds linger);
  void part_ended() noexcept;

  AsyncObserver& observer_;
  std::optional<Part> one_;
  std::list<Part> parts_;  ///< one for each key of a MultiHold
  MultiHold::Owned several_;
  std::atomic<std::size_t> pending_{
      1};              ///< parts without an answer, and one while they are started
  bool lost_ = false;  ///< the hold was empty, or a part of it the parent's of a fork
};

}  // namespace latchkey::inline v1::detail

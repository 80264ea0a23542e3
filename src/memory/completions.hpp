// Outcomes that wait for delivery.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include <latchkey/backend.hpp>

namespace latchkey::inline v1::detail {

/// One outcome that a sink has not received yet.
struct Completion {
  Request* request = nullptr;
  Sink* sink = nullptr;
  Outcome outcome{};
  Completion* next = nullptr;
};

/// Stores outcomes by submitting thread, so that unrelated threads do not contend: a thread usually
/// delivers what it submits, with one atomic operation for the push and one for the delivery.
///
/// Completions come from a small pool of each thread: a steady state allocates nothing.
class Completions {
 public:
  Completions() = default;
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;
  ~Completions() { drop_all(); }

  /// Completions that are filled in and then pushed together. The rest returns to the pool.
  class Batch {
   public:
    /// Throws std::bad_alloc.
    explicit Batch(std::size_t count);
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
    ~Batch();

    /// The first completion; they are linked by `next` in the order of the requests.
    [[nodiscard]] Completion* first() const noexcept { return first_; }

   private:
    friend class Completions;
    Completion* first_ = nullptr;
  };

  /// Queues completions of requests that the calling thread has submitted.
  void push(Batch& batch) noexcept;

  /// Delivers the completions of the calling thread, and those of requests that the sinks submit
  /// meanwhile, until none is left. Returns false if there was none.
  bool deliver_mine() noexcept;

  /// Delivers the pending completions of other threads.
  bool deliver_others() noexcept;

  [[nodiscard]] bool any() const noexcept;

  /// Drops all completions without delivery.
  void drop_all() noexcept;

 private:
  static constexpr std::size_t stripe_count = 16;
  struct alignas(64) Stripe {
    std::atomic<Completion*> latest = nullptr;  // the last one pushed; `next` leads to older ones
  };

  static std::size_t my_stripe() noexcept;
  static bool deliver(Stripe& stripe) noexcept;

  std::array<Stripe, stripe_count> stripes_;
};

}  // namespace latchkey::inline v1::detail

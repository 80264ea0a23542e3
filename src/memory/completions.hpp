// Outcomes that wait for somebody to deliver them.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include <latchkey/backend.hpp>

namespace latchkey::detail {

/// One outcome on its way to its sink.
struct Completion {
  Request* request = nullptr;
  Sink* sink = nullptr;
  Outcome outcome{};
  Completion* next = nullptr;
};

/// Outcomes by submitting thread, so that threads which have nothing to do with each other do not
/// meet here: what a thread submits it mostly delivers itself, one atomic exchange each way.
///
/// Completions come from a small pool of each thread's own: a steady state allocates nothing.
class Completions {
 public:
  Completions() = default;
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;
  ~Completions() { drop_all(); }

  /// Completions that are filled in and then pushed together. What is not pushed goes back.
  class Batch {
   public:
    /// Throws std::bad_alloc.
    explicit Batch(std::size_t count);
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
    ~Batch();

    /// The first; they are linked by `next` in the order of the requests.
    [[nodiscard]] Completion* first() const noexcept { return first_; }

   private:
    friend class Completions;
    Completion* first_ = nullptr;
  };

  /// Queues what the calling thread has submitted.
  void push(Batch& batch) noexcept;

  /// Delivers what the calling thread has submitted, and what the sinks submit on it meanwhile,
  /// until nothing is left of it. False: there was nothing.
  bool deliver_mine() noexcept;

  /// Delivers what others have submitted and not yet delivered.
  bool deliver_others() noexcept;

  [[nodiscard]] bool any() const noexcept;

  /// Forgets all, undelivered.
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

}  // namespace latchkey::detail

// Outcomes that wait for delivery.
// SPDX-License-Identifier: BSL-1.0
#include "memory/completions.hpp"

#include <utility>

namespace latchkey::inline v1::detail {
namespace {

constexpr std::size_t most_spare_completions = 64;

// Trivially destructible, so that it can be used while a thread's other thread_local objects are
// destroyed: one of them may contain a hold. The reaper marks the time from which nothing is
// pooled.
struct Pool {
  Completion* first = nullptr;
  std::size_t size = 0;
  bool reaped = false;
  bool watched = false;
};
constinit thread_local Pool pool;

struct Reaper {
  ~Reaper() {
    pool.reaped = true;
    while (pool.first != nullptr) delete std::exchange(pool.first, pool.first->next);
  }
};

void watch_pool() noexcept {
  thread_local const Reaper reaper;
  static_cast<void>(reaper);
  pool.watched = true;
}

Completion* take_spare() {
  if (pool.first == nullptr) return new Completion;
  --pool.size;
  Completion* const completion = std::exchange(pool.first, pool.first->next);
  completion->next = nullptr;
  return completion;
}

// The strings keep their memory.
void make_new(Outcome& outcome) noexcept {
  outcome.holder.clear();
  outcome.reason.clear();
  Outcome fresh;
  fresh.holder = std::move(outcome.holder);
  fresh.reason = std::move(outcome.reason);
  outcome = std::move(fresh);
}

void give_back(Completion* completion) noexcept {
  if (pool.reaped || pool.size >= most_spare_completions) {
    delete completion;
    return;
  }
  if (!pool.watched) watch_pool();
  make_new(completion->outcome);
  completion->next = std::exchange(pool.first, completion);
  ++pool.size;
}

}  // namespace

Completions::Batch::Batch(std::size_t count) {
  try {
    for (; count > 0; --count) {
      Completion* const completion = take_spare();
      completion->next = std::exchange(first_, completion);
    }
  } catch (...) {
    while (first_ != nullptr) give_back(std::exchange(first_, first_->next));
    throw;
  }
}

Completions::Batch::~Batch() {
  while (first_ != nullptr) give_back(std::exchange(first_, first_->next));
}

std::size_t Completions::my_stripe() noexcept {
  static std::atomic<std::size_t> threads{0};
  constinit thread_local std::size_t mine = 0;  // counted from 1; 0: not assigned yet
  if (mine == 0) mine = threads.fetch_add(1, std::memory_order_relaxed) % stripe_count + 1;
  return mine - 1;
}

void Completions::push(Batch& batch) noexcept {
  Completion* const oldest = std::exchange(batch.first_, nullptr);
  if (oldest == nullptr) return;
  // In the batch `next` points to newer completions, in the stripe to older ones.
  Completion* latest = nullptr;
  for (Completion* each = oldest; each != nullptr;) {
    Completion* const newer = std::exchange(each->next, latest);
    latest = std::exchange(each, newer);
  }
  std::atomic<Completion*>& top = stripes_[my_stripe()].latest;
  Completion* older = top.load(std::memory_order_relaxed);
  do {
    oldest->next = older;
  } while (!top.compare_exchange_weak(older, latest, std::memory_order_release,
                                      std::memory_order_relaxed));
}

bool Completions::deliver(Stripe& stripe) noexcept {
  if (stripe.latest.load(std::memory_order_relaxed) == nullptr) return false;
  Completion* latest = stripe.latest.exchange(nullptr, std::memory_order_acquire);
  Completion* oldest = nullptr;
  while (latest != nullptr) {
    Completion* const older = std::exchange(latest->next, oldest);
    oldest = std::exchange(latest, older);
  }
  const bool any = oldest != nullptr;
  while (oldest != nullptr) {
    Completion* const completion = std::exchange(oldest, oldest->next);
    completion->sink->completed(*completion->request, std::move(completion->outcome));
    give_back(completion);
  }
  return any;
}

bool Completions::deliver_mine() noexcept {
  bool any = false;
  while (deliver(stripes_[my_stripe()])) any = true;
  return any;
}

bool Completions::deliver_others() noexcept {
  const std::size_t mine = my_stripe();
  bool any = false;
  for (std::size_t step = 1; step < stripe_count; ++step) {
    any = deliver(stripes_[(mine + step) % stripe_count]) || any;
  }
  return any;
}

bool Completions::any() const noexcept {
  for (const Stripe& stripe : stripes_) {
    if (stripe.latest.load(std::memory_order_relaxed) != nullptr) return true;
  }
  return false;
}

void Completions::drop_all() noexcept {
  for (Stripe& stripe : stripes_) {
    Completion* each = stripe.latest.exchange(nullptr, std::memory_order_acquire);
    while (each != nullptr) give_back(std::exchange(each, each->next));
  }
}

}  // namespace latchkey::inline v1::detail

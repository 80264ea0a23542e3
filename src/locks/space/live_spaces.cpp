// Notifying spaces that a thread has ended while it held a lock.
// SPDX-License-Identifier: BSL-1.0
#include "locks/space/live_spaces.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "core/mutex.hpp"
#include "core/thread_annotations.hpp"
#include "locks/space/lock_space.hpp"

namespace latchkey::inline v1::detail {
namespace {

struct Registry final : ForkParticipant {
  Mutex mutex;
  std::vector<LockSpace*> spaces LATCHKEY_GUARDED_BY(mutex);

  void prepare() noexcept LATCHKEY_FORK_HANDLER override { mutex.lock(); }
  void parent() noexcept LATCHKEY_FORK_HANDLER override { mutex.unlock(); }
  void child() noexcept LATCHKEY_FORK_HANDLER override { mutex.unlock(); }
};

/// Whether `registry` was ever used: listeners also exist in programs without Locks.
constinit std::atomic<bool> is_used{false};

// Never destroyed: threads may end after static objects are gone.
Registry& registry() {
  static Registry& made = [&]() -> Registry& {
    auto& fresh = *new Registry;
    register_fork_participant(ForkLevel::locks, fresh);
    return fresh;
  }();
  return made;
}

std::shared_ptr<Notifier::State> find_calling(const Listener* listener) noexcept {
  Registry& all = registry();
  const ScopedLock lock(all.mutex);
  for (LockSpace* const space : all.spaces) {
    auto state = space->reporter().notifier().state_calling(listener);
    if (state != nullptr) return state;
  }
  return nullptr;
}

// Runs before the destructors of the static objects that existed when it was registered.
void finish_events() noexcept {
  using std::chrono::steady_clock;
  const auto end = steady_clock::now() + std::chrono::seconds(1);
  while (const auto state = find_calling(nullptr)) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - steady_clock::now());
    Notifier::finish(*state, std::max(left, std::chrono::milliseconds(0)));
  }
}

/// Has finish_events run at exit before the destructor of `listener`, if that is static: it exists
/// before the Locks that call it.
void finish_events_before_end_of(const Listener* listener) {
  constinit static std::atomic<const Listener*> last{nullptr};
  if (listener == nullptr || last.exchange(listener) == listener) return;
  if (std::atexit(finish_events) != 0) throw std::bad_alloc();
}

/// How many locks of one space a thread has.
struct Count {
  std::uint64_t space;  ///< LockSpace::number
  std::uint64_t locks;
};

/// The counts of one thread. The place of a space that it holds nothing of is for another one.
struct Counts {
  std::vector<Count> per_space;
  Owner owner = Owner::this_thread();

  void notify(std::uint64_t number) const {
    Registry& all = registry();
    const ScopedLock lock(all.mutex);
    for (LockSpace* const space : all.spaces) {
      if (space->number() == number) space->owner_ended(owner);
    }
  }
};

constinit thread_local Counts* thread_counts = nullptr;

void end_counts(void* ended) {
  const std::unique_ptr<const Counts> counts(static_cast<Counts*>(ended));
  thread_counts = nullptr;
  for (const Count& count : counts->per_space) {
    if (count.locks > 0) counts->notify(count.space);
  }
}

// The destructors of pthread keys run after those of thread_local objects, which may still unlock.
pthread_key_t make_key() {
  pthread_key_t key{};
  if (::pthread_key_create(&key, end_counts) != 0) throw std::bad_alloc();
  return key;
}

[[gnu::noinline]] Counts& make_counts() {
  static const pthread_key_t key = make_key();
  auto fresh = std::make_unique<Counts>();
  if (::pthread_setspecific(key, fresh.get()) != 0) throw std::bad_alloc();
  thread_counts = fresh.release();
  return *thread_counts;
}

}  // namespace

void LiveSpaces::add(LockSpace& space) {
  Registry& all = registry();
  is_used = true;
  finish_events_before_end_of(space.options().listener);
  const ScopedLock lock(all.mutex);
  all.spaces.push_back(&space);
}

void LiveSpaces::remove(LockSpace& space) noexcept {
  Registry& all = registry();
  const ScopedLock lock(all.mutex);
  std::erase(all.spaces, &space);
}

void LiveSpaces::stop_calling(const Listener& listener) noexcept {
  if (!is_used) return;
  while (const auto state = find_calling(&listener)) Notifier::stop_calling(*state);
}

void ThreadLocks::taken(const LockSpace& space) {
  std::vector<Count>& all = (thread_counts != nullptr ? *thread_counts : make_counts()).per_space;
  auto found = std::ranges::find(all, space.number(), &Count::space);
  if (found == all.end()) found = std::ranges::find(all, 0, &Count::locks);
  if (found == all.end()) return all.push_back({space.number(), 1});
  found->space = space.number();
  ++found->locks;
}

void ThreadLocks::given_back(const LockSpace& space) noexcept {
  if (thread_counts == nullptr) return;
  std::vector<Count>& all = thread_counts->per_space;
  const auto found = std::ranges::find(all, space.number(), &Count::space);
  if (found != all.end() && found->locks > 0) --found->locks;
}

}  // namespace latchkey::inline v1::detail

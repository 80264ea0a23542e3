// Telling spaces that a thread ended while it held.
#include "locks/space/live_spaces.hpp"

#include <pthread.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "locks/space/lock_space.hpp"

namespace latchkey::detail {
namespace {

struct Registry final : ForkParticipant {
  std::mutex mutex;
  std::vector<LockSpace*> spaces;

  void prepare() noexcept override { mutex.lock(); }
  void parent() noexcept override { mutex.unlock(); }
  void child() noexcept override { mutex.unlock(); }
};

// Never destroyed: threads may end after static objects went.
Registry& registry() {
  static Registry& made = [&]() -> Registry& {
    auto& fresh = *new Registry;
    register_fork_participant(ForkLevel::locks, fresh);
    return fresh;
  }();
  return made;
}

struct Count {
  std::uint64_t space;
  std::uint64_t locks;
};

struct Counts {
  std::vector<Count> of;
  Owner owner = Owner::this_thread();

  void tell(std::uint64_t number) const {
    const std::lock_guard lock(registry().mutex);
    for (LockSpace* const space : registry().spaces) {
      if (space->number() == number) space->owner_ended(owner);
    }
  }
};

constinit thread_local Counts* mine = nullptr;

extern "C" void end_counts(void* ended) {
  const std::unique_ptr<const Counts> counts(static_cast<Counts*>(ended));
  mine = nullptr;
  for (const Count& count : counts->of) {
    if (count.locks > 0) counts->tell(count.space);
  }
}

// The destructors of keys run after those of thread_local objects, which may unlock yet.
pthread_key_t make_key() {
  pthread_key_t key{};
  if (::pthread_key_create(&key, end_counts) != 0) throw std::bad_alloc();
  return key;
}

Counts& counts() {
  static const pthread_key_t key = make_key();
  if (mine == nullptr) {
    auto fresh = std::make_unique<Counts>();
    if (::pthread_setspecific(key, fresh.get()) != 0) throw std::bad_alloc();
    mine = fresh.release();
  }
  return *mine;
}

}  // namespace

void LiveSpaces::add(LockSpace& space) {
  const std::lock_guard lock(registry().mutex);
  registry().spaces.push_back(&space);
}

void LiveSpaces::remove(LockSpace& space) noexcept {
  const std::lock_guard lock(registry().mutex);
  std::erase(registry().spaces, &space);
}

void ThreadLocks::taken(const LockSpace& space) {
  auto& of = counts().of;
  const auto found = std::ranges::find(of, space.number(), &Count::space);
  if (found != of.end()) {
    ++found->locks;
  } else {
    of.push_back({space.number(), 1});
  }
}

void ThreadLocks::given_back(const LockSpace& space) noexcept {
  if (mine == nullptr) return;
  auto& of = mine->of;
  const auto found = std::ranges::find(of, space.number(), &Count::space);
  if (found == of.end()) return;
  if (--found->locks > 0) return;
  *found = of.back();
  of.pop_back();
}

}  // namespace latchkey::detail

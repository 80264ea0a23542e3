// Owner numbers from one counter, never reused, and the threads that they belong to.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/owner.hpp>

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <mutex>
#include <new>

#include "core/at_fork.hpp"
#include "core/never_destroyed.hpp"
#include "core/owner_threads.hpp"
#include "core/thread_annotations.hpp"

namespace latchkey::inline v1 {
namespace {

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// The threads that are owners and have not ended.
class Threads final : private detail::ForkParticipant {
 public:
  static Threads& all() {
    // Never destroyed: threads may end after static objects are destroyed.
    static detail::NeverDestroyed<Threads> made;
    return made.get();
  }

  void add(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    threads_[number] = ::syscall(SYS_gettid);
    mine_ = number;
  }
  void remove(std::uint64_t number) noexcept {
    const std::lock_guard lock(mutex_);
    threads_.erase(number);
  }
  std::optional<long> find(std::uint64_t number) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = threads_.find(number);
    return found == threads_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  friend class detail::NeverDestroyed<Threads>;
  Threads() { register_fork_participant(detail::ForkLevel::core, *this); }

  void prepare() noexcept override LATCHKEY_FORK_HANDLER { mutex_.lock(); }
  void parent() noexcept override LATCHKEY_FORK_HANDLER { mutex_.unlock(); }
  // Only the thread that forked exists in the child, with a new thread id.
  void child() noexcept override LATCHKEY_FORK_HANDLER {
    std::erase_if(threads_, [](const auto& each) { return each.first != mine_; });
    for (auto& [number, thread] : threads_) thread = ::syscall(SYS_gettid);
    mutex_.unlock();
  }

  static constinit thread_local std::uint64_t mine_;

  std::mutex mutex_;
  std::map<std::uint64_t, long> threads_;  // guarded by mutex_
};

constinit thread_local std::uint64_t Threads::mine_ = 0;

/// Lists the calling thread from its first lock to its end.
struct Listed {
  const std::uint64_t number = next_number();
  bool listed = false;
  // A thread that is not listed because memory is exhausted is still an owner: the list only serves
  // diagnostics.
  Listed() noexcept {
    try {
      Threads::all().add(number);
      listed = true;
    } catch (const std::bad_alloc&) {
      listed = false;
    }
  }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;
  ~Listed() {
    if (listed) Threads::all().remove(number);
  }
};

// The number outlives the list entry: destructors that run later may still lock.
[[gnu::cold, gnu::noinline]] std::uint64_t number_of_this_thread() {
  thread_local const Listed listed;
  return listed.number;
}

}  // namespace

Owner Owner::this_thread() noexcept {
  // Constant-initialised: a thread_local with a constructor is looked after at each use.
  static constinit thread_local std::uint64_t number = 0;
  if (number == 0) [[unlikely]] {
    number = number_of_this_thread();
  }
  return Owner(number);
}

Owner Owner::make() noexcept { return Owner(next_number()); }

namespace detail {

std::optional<long> thread_of(Owner owner) noexcept { return Threads::all().find(owner.number()); }

}  // namespace detail
}  // namespace latchkey::inline v1

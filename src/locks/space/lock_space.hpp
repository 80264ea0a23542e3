// What Locks, Lock and Hold share: coordinators in shards, driven by blocking threads.
// tidy: long-file because it is the driver of all shards, of which seven files have parts
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <latchkey/attempt.hpp>
#include <latchkey/backend.hpp>
#include <latchkey/error.hpp>
#include <latchkey/hold.hpp>
#include <latchkey/options.hpp>
#include <latchkey/owner.hpp>

#include "core/at_fork.hpp"
#include "core/key_table.hpp"
#include "core/small_mutex.hpp"
#include "core/small_vector.hpp"
#include "core/thread_annotations.hpp"
#include "locks/coordinator.hpp"
#include "locks/listener/notifier.hpp"
#include "locks/space/asker.hpp"
#include "locks/timers.hpp"

namespace latchkey::detail {

struct Administration;
class BlockingCall;
class BatchAcquire;

/// One mutex's worth of keys. There are many more of them than threads, so that two threads seldom
/// write to one; what a turn needs beside them is on its own stack.
struct alignas(64) Shard {
  SmallMutex mutex;
  bool detached = false;        ///< its Hold objects count in LockSpace::detached_holds_
  std::uint32_t departing = 0;  ///< releases that still need the space, counted there too
  KeyTable<Coordinator> table;
  Timers timers;
  CoordinatorContext context;
};
static_assert(sizeof(Shard) == 128);

/// A shard's mutex, held. Threads that a turn wakes are woken once it is let go: they would run
/// straight into it, and two changes of threads become four.
class LATCHKEY_SCOPED_CAPABILITY ShardLock {
 public:
  explicit ShardLock(Shard& shard) noexcept LATCHKEY_ACQUIRE(shard.mutex) : shard_(shard) {
    shard.mutex.lock();
  }
  ShardLock(const ShardLock&) = delete;
  ShardLock& operator=(const ShardLock&) = delete;
  ~ShardLock() LATCHKEY_RELEASE() {
    if (held_) unlock();
  }

  [[nodiscard]] Shard& shard() const noexcept { return shard_; }
  /// The parker is of those that are never destroyed.
  void wake_afterwards(Parker& parker) noexcept {
    if (woken_.make_room()) {
      woken_.push_back(&parker);
    } else {
      parker.unpark();
    }
  }
  void unlock() noexcept LATCHKEY_RELEASE() {
    held_ = false;
    shard_.mutex.unlock();
    for (Parker* const each : woken_) each->unpark();
  }

 private:
  Shard& shard_;
  bool held_ = true;
  SmallVector<Parker*, 4> woken_;
};

/// What the timer thread looks at for a number of shards: nothing in them is due before this.
struct alignas(64) Watched {
  std::atomic<Clock::rep> next_due{Clock::never().time_since_epoch().count()};
};

/// The driver around the coordinators: it owns the mutexes, the threads and the clock that they do
/// not have. Every event is brought under its shard's mutex, and the actions are carried out before
/// that is let go, so requests reach the backend in the order of the decisions.
///
/// Lifetime: made by Locks, deleted by itself when neither a Locks, a Lock nor a Hold is left.
class LockSpace final : public Sink, public ForkParticipant {
 public:
  LockSpace(std::unique_ptr<Backend> backend, const Options& options);

  // --- calls; they throw what the public functions of these names throw ---
  Hold acquire(std::string_view key, Owner owner, const Attempt& attempt);
  std::optional<Hold> try_acquire(std::string_view key, Owner owner, const Attempt& attempt);
  bool lock(std::string_view key, LockType type, Owner owner, Wait wait);
  bool unlock(std::string_view key, LockType type, Owner owner);
  /// `asker`: the decorated call whose body has run; what it throws names it, and a loss is thrown.
  bool release(RemoteHold& hold, LockType type, bool watched, std::chrono::milliseconds linger,
               const Asker* asker = nullptr);
  void release_quietly(RemoteHold& hold, LockType type, bool watched,
                       std::chrono::milliseconds linger) noexcept;
  bool extend(RemoteHold& hold, LockType type, std::chrono::milliseconds lease);
  [[nodiscard]] std::stop_token stop_token(RemoteHold& hold);
  /// Before anything is asked: throws Cancelled where the token was used already.
  void refuse_if_cancelled(const std::stop_token& cancel, std::string_view key,
                           LockType type) const {
    if (cancel.stop_requested()) throw Cancelled({std::string(key), type, describe()});
  }
  Outcome::Kind administer(const Request& request);
  void close(std::chrono::milliseconds drain);

  /// Tells the listener what an unlock or a destructor could not throw.
  void report(Event::Kind kind, std::string_view key, LockType type,
              std::string_view text) noexcept;
  void tell(const Event& event) noexcept;
  /// On the thread that tells listeners: what listens to it is user code.
  void request_stop(std::stop_source stop) noexcept;
  bool flush(std::chrono::milliseconds patience) { return notifier_.flush(patience); }

  [[nodiscard]] const Options& options() const noexcept { return options_; }
  [[nodiscard]] const Capabilities& capabilities() const noexcept { return capabilities_; }
  [[nodiscard]] Clock& clock() const noexcept { return clock_; }
  [[nodiscard]] std::string describe() const { return backend_->describe(); }
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

  // --- lifetime ---
  void detach();                  ///< the last Locks or Lock is gone
  void owner_ended(Owner owner);  ///< a thread ended while it held by lock()

  // --- Sink: on whichever thread drives ---
  void completed(Request& request, Outcome&& outcome) noexcept override;
  void notified(const Notification& notification) noexcept override;

  // --- ForkParticipant ---
  void prepare() noexcept LATCHKEY_FORK_HANDLER override;
  void parent() noexcept LATCHKEY_FORK_HANDLER override;
  void child() noexcept LATCHKEY_FORK_HANDLER override;

 private:
  friend class BlockingCall;  // how the members of composites are driven: one of several calls of a
  friend class BatchAcquire;  // thread, and one request for keys of several shards

  static constexpr std::size_t shard_bits = 8;
  static constexpr std::size_t shard_count = std::size_t{1} << shard_bits;
  static constexpr std::size_t shards_watched_together = 8;

  /// Kept by a thread that releases a hold: the space goes with its last hold, and not before the
  /// last word about it is said.
  struct ReleaseGuard {
    LockSpace& space;
    bool detached = false;
    Shard* counted_in = nullptr;
    ~ReleaseGuard() {
      if (counted_in != nullptr) count_out();
      if (detached) space.one_hold_less();
    }
    void count_out() noexcept;
  };

  /// A thread inside close, to be woken when something has changed.
  struct Closer {
    Parker& parker;
    Closer* previous = nullptr;
    Closer* next = nullptr;
  };

  /// A server without a connection.
  struct Down {
    std::string server;
    bool never_up;  ///< as Startup::allow_down allows; the listener was not told that it is lost
  };

  ~LockSpace();

  void warn(const std::string& of_backend);
  void warn_anew() noexcept;
  void connection_found(const Connection& found);
  void connection_changed(Event::Kind kind, std::string_view server, std::string_view text);
  bool give_back(RemoteHold& hold, LockType type, bool watched, std::chrono::milliseconds linger,
                 ReleaseGuard& departure, const Asker* asker = nullptr);
  void wait_while_held(Clock::time_point until, Parker& parker);
  void wake_closers() noexcept;

  [[nodiscard]] Shard& shard_of(std::size_t hash) noexcept {
    return shards_[hash >> (64 - shard_bits)];
  }
  [[nodiscard]] Watched& group_of(const Shard& shard) noexcept {
    return watched_[static_cast<std::size_t>(&shard - shards_.data()) / shards_watched_together];
  }
  [[nodiscard]] std::span<Shard> shards_of(const Watched& group) noexcept {
    const auto index = static_cast<std::size_t>(&group - watched_.data());
    return std::span(shards_).subspan(index * shards_watched_together, shards_watched_together);
  }
  /// Where a key's coordinator is, or is to be.
  struct Place {
    std::string_view key;
    std::size_t hash;
    Shard& shard;
  };
  [[nodiscard]] inline Clock::time_point asked_at(const Lease& lease) const noexcept;
  [[nodiscard]] inline Place place_of(std::string_view key) noexcept;
  Coordinator& coordinator(const Place& place);
  void perform(ShardLock& lock, Coordinator& coordinator, EventContext& context);
  template <class News>
  void post(News&& news) noexcept {
    // Where there is no thread to tell it on, the timer asks for one again and again.
    if (!notifier_.post(std::forward<News>(news))) wake_timer();
  }
  inline void submit(Coordinator& coordinator, EventContext& context);
  bool answer(Request& request, Outcome& outcome) noexcept;
  /// Lends the thread to the backend; where that has no memory, for a moment to nobody.
  void drive(Parker& parker, Clock::time_point until) noexcept;
  void wake(Call& call, ShardLock& lock);
  static void demand_parker();
  static bool may_wait() noexcept;
  inline void run(const Place& place, Call& call, const std::stop_token& cancel);
  template <class Bring>
  void take_turn(ShardLock& lock, Coordinator& home, Call& call, Bring&& bring);
  void wait(ShardLock& lock, Coordinator& home, Call& call, const std::stop_token& cancel = {});
  void wait_for(Shard& shard, Coordinator& coordinator, Call& call, Clock::time_point wake_at);
  [[nodiscard]] bool done_or_fail(const Call& call, const Asker* asker = nullptr);
  [[noreturn]] void fail(const Call& call, std::string_view key, const Asker* asker = nullptr);
  [[nodiscard]] std::string announced(const Call& call, std::string_view key);
  bool await(std::unique_ptr<Administration>& asked, Clock::time_point until);
  [[nodiscard]] bool wait_until_answered(const Administration& asked, Clock::time_point until);
  void leave(std::unique_ptr<Administration> asked) noexcept;
  void take_back(Administration& left) noexcept;
  void drop_left() noexcept;
  void one_hold_less() noexcept;
  template <class Visit>
  void for_each_coordinator(Visit&& visit);

  // the timer thread (lock_space_timer.cpp)
  void watch(Shard& shard, Coordinator& coordinator);
  /// With no mutex held, before `key` is asked for. Throws BackendUnavailable, std::bad_alloc.
  void demand_timer(std::string_view key, LockType type) {
    if (!timer_started_.load(std::memory_order_acquire)) [[unlikely]] {
      start_timer(key, type);
    }
  }
  void start_timer(std::string_view key, LockType type);
  void wake_timer() noexcept;
  void run_timer();
  void tick_due(Watched& group, Clock::time_point now);
  [[nodiscard]] Clock::time_point earliest_due() const noexcept;

  const std::uint64_t number_;  ///< never reused, unlike an address
  const Options options_;
  Clock& clock_;
  std::unique_ptr<Backend> backend_;
  const Capabilities capabilities_;
  CoordinatorSettings settings_;
  /// A tick of the clock more or less is seen: by who is told how long each hold was, which is
  /// often less, and by commands that have but a few ticks for their answer.
  const bool ticks_count_;
  std::array<Shard, shard_count> shards_;
  std::array<Watched, shard_count / shards_watched_together> watched_;
  Notifier notifier_;

  SmallMutex connections_mutex_;  ///< of the next
  std::vector<Down> connections_down_;

  std::atomic<bool> timer_started_{false};
  std::atomic<int> timer_has_work_{0};  ///< 1 from the first time that something is due
  std::atomic<bool> timer_ending_{false};
  std::atomic<Clock::rep> timer_sleeps_until_;
  std::unique_ptr<Parker> timer_parker_ = std::make_unique<Parker>();
  std::thread timer_;

  std::atomic<bool> closing_{false};  ///< somebody is in closers_, or was
  SmallMutex closers_mutex_;          ///< the last to be taken but for parkers
  IntrusiveList<Closer> closers_;
  /// Requests whose callers did not wait for the answer. Guarded by closers_mutex_.
  Administration* left_ = nullptr;
  std::atomic<std::uint64_t> detached_holds_{0};
};

inline Coordinator& LockSpace::coordinator(const Place& place) {
  KeyTable<Coordinator>& table = place.shard.table;
  if (Coordinator* const found = table.find(place.key, place.hash)) return *found;
  Coordinator& made = table.insert(place.key, place.hash);
  made.start(place.shard.context);
  return made;
}

template <class Visit>
void LockSpace::for_each_coordinator(Visit&& visit) {
  for (Shard& shard : shards_) {
    ShardLock lock(shard);
    shard.table.for_each([&](Coordinator& each) {
      Actions actions;
      EventContext context(clock_, actions);
      visit(each, context);
      perform(lock, each, context);
    });
  }
}

}  // namespace latchkey::detail

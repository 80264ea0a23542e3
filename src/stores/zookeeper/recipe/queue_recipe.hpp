// Locks as queues of ordered nodes: ZooKeeper's lock recipe.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>

#include "stores/driver/outbox.hpp"
#include "stores/zookeeper/recipe/ticket.hpp"

namespace latchkey::inline v1::detail::zookeeper {

struct Line;

/// A request of a place: it waits for its turn, or is under way.
struct Job {
  Request* request = nullptr;
  Sink* sink = nullptr;
  bool searched = false;  ///< release: the entries were searched for its owner
  bool is_busy = false;   ///< acquire: it ends as busy when its entry is deleted
};

/// The place of one id in the queue of one key. Its requests run one after the other.
///
/// | stage    | meaning                                    | next                           |
/// |----------|--------------------------------------------|--------------------------------|
/// | absent   | there is no entry                          | creating; unsure by a release  |
/// | creating | the entry is being made                    | ordering; unsure if the        |
/// |          |                                            | connection ends                |
/// | ordering | it was made, the entries are being read    | waiting, held, removing (busy) |
/// | waiting  | it waits for its predecessor, or, once     | first, held, removing          |
/// |          | that is deleted, looks at its own entry    |                                |
/// | first    | nobody is before it; its owner was told,   | held by an acquire, removing   |
/// |          | but has not taken the lock                 |                                |
/// | held     | its owner holds the lock                   | removing; absent if taken away |
/// | removing | the entry is being deleted, or will be     | absent                         |
/// |          | when the connection is back                |                                |
/// | unsure   | there may be an entry: the entries are     | waiting, absent                |
/// |          | searched for its owner                     |                                |
///
/// The end of the session leads from each to absent.
struct Place {
  enum class Stage : std::uint8_t {
    absent,
    creating,
    ordering,
    waiting,
    first,
    held,
    removing,
    unsure
  };

  Line* line = nullptr;
  HoldId id;
  LockType type = LockType::REENTRANT;
  Stage stage = Stage::absent;
  Ticket ticket;            ///< the entry, from ordering on
  std::uint64_t stamp = 0;  ///< when the entry was made: it only rises; 0: not known
  std::uint32_t tokens = 1;
  bool fenced = false;                ///< Request::wants_token() of the last acquire
  std::string watched;                ///< the name of the predecessor whose deletion is awaited
  bool watched_is_last = false;       ///< Predecessor::is_last
  bool looks_at_own = false;          ///< the last predecessor is gone, the own entry is checked
  bool behind_foreign = false;        ///< the predecessor is of another library
  std::size_t own_watch = 0;          ///< held: how many bytes watch the own entry; 0: none
  Sink* sink = nullptr;               ///< gets notifications: the last acquire's sink
  std::chrono::milliseconds lease{};  ///< the last acquire's lease
  bool queues = false;                ///< Request::queues of the last acquire
  bool listens = false;               ///< FAIR: subscribed
  bool converts = false;  ///< unsure: the connection ended while a writer became a reader
  std::string note;       ///< Request::note
  Clock::time_point ends = Clock::never();  ///< the lease or, without one, the place
  std::deque<Job> jobs;                     ///< the first one is under way
  unsigned operations = 0;                  ///< how many the store has under way

  [[nodiscard]] bool has_entry() const noexcept {
    return stage == Stage::waiting || stage == Stage::first || stage == Stage::held;
  }
  [[nodiscard]] bool is_idle() const noexcept {
    return stage == Stage::absent && jobs.empty() && operations == 0 && !listens;
  }
};

/// The places of this process in the queue of one key.
struct Line {
  std::string key;
  std::vector<std::unique_ptr<Place>> places;
  bool reads = false;        ///< the entries are being read for the line, not for one place
  bool reads_again = false;  ///< and are to be read once more after that
};

/// The operations on nodes that the recipe needs. Each starts one and returns; its result is passed
/// to the QueueRecipe. The server runs them in the order of the calls.
class QueueStore {
 public:
  /// Returns the owner by which the entries of this id are found.
  [[nodiscard]] virtual TicketOwner owner_of(const HoldId& id) const noexcept = 0;
  /// Makes the entry of this place, then reads the entries of its line: `created` and, unless that
  /// was refused, `listed` with this place.
  virtual void create(Place& place) = 0;
  /// Reads the entries: `listed`. `asker`: may be null. A hold may follow from what is read, so the
  /// server reads after it has reached the leader, which knows whose session has ended.
  virtual void list(Line& line, Place* asker) = 0;
  /// `deleted` once the entry is deleted, also if it is already; `changed` if it changes before.
  virtual void watch(Line& line, const std::string& name) = 0;
  /// How many bytes the store sends to watch the entry of this place again after a reconnect.
  [[nodiscard]] virtual std::size_t watch_size(const Place& place) const noexcept = 0;
  /// Deletes the entry of this place: `removed`.
  virtual void remove(Place& place) = 0;
  /// Checks whether the entry of this place exists: `checked`. The server reads after it has
  /// reached the leader. `prolongs`: the hold's deadline is moved, so a majority of the servers has
  /// to take part: a leader that is cut off from it no longer decides whose session ends. If the
  /// place has an `own_watch`, the same read sets it.
  virtual void check(Place& place, bool prolongs) = 0;
  /// The entry of this place, a writer's, becomes a reader's at the same position, in one step:
  /// `converted`.
  virtual void convert(Place& place) = 0;

 protected:
  ~QueueStore() = default;
};

/// Why an operation did not run; empty: it did.
using Refusal = std::string;

/// The decisions of the recipe. Pure: it sees neither a connection nor a clock. One thread at a
/// time. Members throw std::bad_alloc.
class QueueRecipe {
 public:
  QueueRecipe(QueueStore& store, stores::Outbox& outbox) : store_(store), outbox_(outbox) {}
  QueueRecipe(const QueueRecipe&) = delete;
  QueueRecipe& operator=(const QueueRecipe&) = delete;

  /// The time of what is told next.
  void set_now(Clock::time_point now) noexcept { now_ = now; }

  // --- requests ---
  /// acquire, renew, verify, downgrade, release, leave.
  void submit(Request& request, Sink& sink);
  /// FAIR: `id` is told when it is first, or no longer.
  void listen(std::string_view key, const HoldId& id, bool on);

  // --- what the store answers ---
  void created(Place& place, const Refusal& refusal, Ticket ticket, std::uint64_t stamp);
  void listed(Line& line, Place* asker, const Refusal& refusal, std::vector<Ticket> tickets);
  void removed(Place& place, const Refusal& refusal, bool existed);
  void checked(Place& place, const Refusal& refusal, bool exists, std::uint64_t stamp);
  void converted(Place& place, const Refusal& refusal, bool existed, Ticket ticket);

  // --- events ---
  void deleted(Line& line, std::string_view name);
  /// Somebody has written other data into the entry, as Curator's Revoker does: it is still there.
  void changed(Line& line, std::string_view name);
  /// Operations that are under way are not answered. `why`: a clause.
  void link_lost(const std::string& why);
  /// The connection is back, with the session that it had.
  void link_resumed();
  /// All entries of this process are deleted.
  void session_lost();
  /// Memory was missing: as `link_lost`, but the requests are completed elsewhere.
  void start_over() noexcept;
  /// Sets the timers that could not be set for want of memory.
  void restore_timers();
  /// Does what is due.
  void tick();

  [[nodiscard]] Clock::time_point due() const noexcept {
    return timers_.empty() ? Clock::never() : timers_.begin()->first;
  }
  /// The line of the key; null: this process has no place there.
  [[nodiscard]] Line* find(std::string_view key) noexcept;
  [[nodiscard]] bool is_empty() const noexcept { return lines_.empty(); }
  /// A place waits for the deletion of its predecessor.
  [[nodiscard]] bool awaits_deletions() const noexcept { return watches_ > 0; }
  /// In a forked child.
  void forget() noexcept;

 private:
  using Stage = Place::Stage;

  Place& place_of(std::string_view key, const HoldId& id);
  /// Erases the places of which nothing is left.
  void sweep(Line& line);
  void sweep_all();

  // --- requests: the first job of a place ---
  /// Begins jobs until one waits for the store.
  void run(Place& place);
  void begin(Place& place);
  void begin_acquire(Place& place, const Request& request);
  void begin_release(Place& place, Job& job);
  void begin_check(Place& place, const Request& request);
  /// The first job is an acquire.
  [[nodiscard]] static bool acquires(const Place& place) noexcept;
  [[nodiscard]] bool is_over(const Place& place) const noexcept {
    return place.stage == Stage::held && now_ >= place.ends;
  }
  void complete(Place& place, Outcome&& outcome);
  void complete(Place& place, Outcome::Kind kind);
  void refuse(Place& place, const Refusal& refusal);
  void grant(Place& place);
  void wait_in_line(Place& place);
  void busy(Place& place);

  // --- the queue ---
  void search(Place& place);
  void settle(Place& place, const std::vector<Ticket>& tickets);
  void evaluate(Place& place, const std::vector<Ticket>& tickets);
  void become_first(Place& place);
  void vanish(Place& place);
  void looked_at_own(Place& place, const Refusal& refusal, bool exists);
  void unwatch(Place& place) noexcept;
  /// From the next check on the own entry is watched, if there is room for that, or no longer.
  void watch_own(Place& place, bool on) noexcept;
  void remove(Place& place);
  void read_again(Line& line);
  void end_at(Place& place, Clock::time_point when);
  [[nodiscard]] static std::uint64_t token_of(const Place& place) noexcept;

  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };

  QueueStore& store_;
  stores::Outbox& outbox_;
  Clock::time_point now_{};
  std::size_t watches_ = 0;      ///< places with a predecessor that is watched
  std::size_t own_watches_ = 0;  ///< the bytes of all Place::own_watch
  std::unordered_map<std::string, std::unique_ptr<Line>, TextHash, std::equal_to<>> lines_;
  std::set<std::pair<Clock::time_point, Place*>> timers_;
};

}  // namespace latchkey::inline v1::detail::zookeeper

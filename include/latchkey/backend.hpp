// The seam between locks and the place where they live.
#pragma once

#include <latchkey/cxx20.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/clock.hpp>
#include <latchkey/hold_id.hpp>
#include <latchkey/lock_info.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/parker.hpp>

namespace latchkey {

/// What is asked of a backend. One attempt each; nothing is retried below this seam.
///
/// | verb          | what it does                                              | outcomes      |
/// |---------------|-----------------------------------------------------------|---------------|
/// | acquire       | grants {key, type} to `id` for `lease`, or says who is in | granted, busy |
/// |               | the way. Asked again by a holder: the lease starts anew,  |               |
/// |               | the token stays. FAIR enters (or keeps) its place in the  |               |
/// |               | queue if busy                                             |               |
/// | acquire_all   | all of `members` or none                                  | granted, busy |
/// | renew         | the lease of `id` ends in `lease` from now; never earlier | granted, gone |
/// |               | than before                                               |               |
/// | verify        | does `id` still hold? Changes nothing                     | granted, gone |
/// | downgrade     | the WRITE of `id` becomes a READ of the same id, with     | granted, gone |
/// |               | `lease`                                                   |               |
/// | expire        | the lease of `id` ends in `lease` from now, or as it      | granted, gone |
/// |               | would before; asked for where `expires` is offered        |               |
/// | release       | `id` holds no longer                                      | granted, gone |
/// | leave         | `id` gives up its acquire, whatever came of it: its place | granted, gone |
/// |               | in the queue, or its hold, ends; a WRITE also where a     |               |
/// |               | downgrade has made a READ of it                           |               |
/// | subscribe     | from its outcome on, notifications about the key (FAIR:   | granted       |
/// |               | about this id) reach the sink                             |               |
/// | unsubscribe   | no more of them                                           | granted       |
/// | inspect       | fills `info`                                              | granted       |
/// | list          | appends the locked keys that match the glob `key` to      | granted       |
/// |               | `names`                                                   |               |
/// | force_release | ends every hold of the key, whoever has it                | granted, gone |
///
/// Each may also end as `unknown` (no answer: it may run, may have run, or may never run) or as
/// `refused` (the backend says no: a permission, a wrong type).
enum class Verb : std::uint8_t {
  acquire,
  acquire_all,
  renew,
  verify,
  downgrade,
  expire,
  release,
  leave,
  subscribe,
  unsubscribe,
  inspect,
  list,
  force_release,
};

/// The verb's name, for messages and traces.
[[nodiscard]] std::string_view to_string(Verb verb) noexcept;

/// One member of an acquire_all.
struct Member {
  std::string_view key;
  LockType type = LockType::REENTRANT;
  HoldId id;
};

/// One request. The submitter owns it and keeps it, and the text that `key` points to, unchanged
/// until it is completed; the backend keeps no pointer to it after that.
struct Request {
  Verb verb = Verb::acquire;
  LockType type = LockType::REENTRANT;
  std::uint32_t tokens = 1;  ///< acquire, FENCED: how many fencing tokens to reserve
  std::string_view key;      ///< with its prefix; 1 byte to 1 KiB
  std::size_t hash = 0;      ///< latchkey's own: the key's hash, where it is known already
  HoldId id;
  std::chrono::milliseconds lease{};  ///< acquire, acquire_all, renew, downgrade, expire
  /// acquire, FAIR: how long the place in the queue lives without being asked for again.
  std::chrono::milliseconds queue_wait{};
  /// acquire, renew, downgrade, release, leave: what people shall read of the holder as long as it
  /// holds, where the backend has a place for it; empty: nothing.
  std::string_view note{};
  std::span<const Member> members{};          ///< acquire_all
  LockInfo* info = nullptr;                   ///< inspect
  std::vector<std::string>* names = nullptr;  ///< list
  /// When the submitter asked, read before it submits: a lease granted in the same process may
  /// count from here, never from earlier.
  Clock::time_point sent{};
  void* context = nullptr;  ///< the submitter's own
  Request* next = nullptr;  ///< the backend's own while the request is under way
};

/// What became of a request.
struct Outcome {
  enum class Kind : std::uint8_t { granted, busy, gone, unknown, refused };

  Kind kind = Kind::unknown;
  /// granted, FENCED: the last token of the block reserved; 0: none.
  std::uint64_t token = 0;
  /// busy: ask again after this time at the latest: then the holder's lease will have ended, or
  /// something may have changed that nobody tells; empty: neither is known.
  std::optional<std::chrono::milliseconds> retry_after{};
  /// busy, acquire_all: the first member in the way.
  std::uint32_t busy_member = 0;
  /// busy: who holds, where known. unknown and refused: why, as a clause without a full stop.
  std::string text{};
  /// unknown, refused: the request was not sent and will not be: there is nothing to give back.
  bool never_ran = false;
};

/// Something that happened without having been asked for.
struct Notification {
  enum class Kind : std::uint8_t {
    released,   ///< `key` may be free: whoever waits for it asks again (FAIR: `id` is next)
    gone,       ///< `id` no longer holds `key`
    link_down,  ///< no key, no id: answers will not come for a while
    link_up,    ///< the link is back: notifications may have been missed, holds may be gone
    warning,    ///< no key, no id: `Backend::warning` has something new to say
  };

  Kind kind = Kind::released;
  std::string_view key{};
  HoldId id{};
  std::string_view server{};  ///< link_down and link_up: of several which; empty: there is one
  std::string_view text{};    ///< the same: why, as a clause without a full stop
};

/// A connection of a backend when its Locks are made.
struct Connection {
  std::string server{};  ///< as in Notification
  bool up = true;
  std::string why{};  ///< down: why, as a clause without a full stop
};

/// Where outcomes and notifications go. Called only by the thread that is inside `drive`, with none
/// of the backend's mutexes held; it may submit further requests.
class Sink {
 public:
  virtual void completed(Request& request, Outcome&& outcome) noexcept = 0;
  virtual void notified(const Notification& notification) noexcept = 0;

 protected:
  ~Sink() = default;
};

/// What a backend offers. Asked once, when the Locks are made.
struct Capabilities {
  bool reentrant = true, fair = false, read_write = false, fenced = false;
  /// acquire_all works for any keys (all), for keys of one partition (Backend::same_partition), or
  /// not at all (none).
  enum class OneStep : std::uint8_t { none, partition, all } one_step = OneStep::none;
  /// Subscriptions deliver; without it waiters poll.
  bool pushes = false;
  /// A request runs after all that were submitted before it, also where those ended as unknown.
  bool in_order = false;
  /// Grants can wait for replicas.
  bool replica_acknowledgement = false;
  /// expire works: what LOCKED's hold_for keeps ends in time although its process ends before.
  bool expires = false;
  /// inspect, list and force_release work.
  bool administration = false;

  [[nodiscard]] bool offers(LockType type) const noexcept;
};

/// One connection to a place where locks live.
///
/// It makes one attempt and never blocks on it, never retries, logs, reads a policy or starts a
/// thread. All members are thread-safe. A third party writes a SimpleBackend instead, unless its
/// service can push.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  [[nodiscard]] virtual Capabilities capabilities() const noexcept = 0;

  /// One acquire_all may name both keys. Asked only if `capabilities` says OneStep::partition.
  [[nodiscard]] virtual bool same_partition(std::string_view /*key*/,
                                            std::string_view /*other*/) const noexcept {
    return false;
  }

  /// Scheme, host, port and database for messages; never a user name or a password.
  [[nodiscard]] virtual std::string describe() const = 0;

  /// What speaks against this place for locks, as a clause without a full stop; empty: nothing.
  /// Asked when the Locks are made, and after a notification that says so; told to the listener.
  [[nodiscard]] virtual std::string warning() const { return {}; }

  /// Its connections, of whose changes sinks are told by link_down and link_up: once for each
  /// change. Empty: it has none that could be lost. Asked once, when the Locks are made.
  [[nodiscard]] virtual std::vector<Connection> connections() const { return {}; }

  /// Queues the requests and returns; the sink is not called from here. Requests submitted by one
  /// thread, or by several that take turns under a mutex, are attempted in that order. Every
  /// request is completed exactly once, in any order, by whichever thread drives.
  virtual void submit(std::span<Request* const> requests, Sink& sink) = 0;

  /// Answers `request` here and now, where that takes no longer than to queue it: locks in the same
  /// process. False: it was not looked at, submit it. The sink is not called from here; it is where
  /// notifications go. `outcome` is as new. Of one verb either all requests are answered so or
  /// none.
  virtual bool answer(Request& request, Outcome& outcome, Sink& sink);

  /// Lends the calling thread to the backend until something was delivered to a sink by it,
  /// `parker` (the calling thread's own) is unparked, or the time is over. Any number of threads at
  /// once. A thread that submitted and then drives until its parker is unparked by its sink is
  /// never left behind. Resources: whoever needs the backend's progress drives it; nobody else
  /// does.
  virtual void drive(Parker& parker, Clock::time_point until) = 0;

  /// Called in the child after a fork, with no other thread alive: drops what belongs to the parent
  /// (sockets are closed without a byte) and every request under way, uncompleted.
  virtual void forget_parent() noexcept {}
};

}  // namespace latchkey

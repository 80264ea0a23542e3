// The interface between locks and the service that keeps them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/capabilities.hpp>
#include <latchkey/clock.hpp>
#include <latchkey/hold_id.hpp>
#include <latchkey/list_page.hpp>
#include <latchkey/lock_info.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/loop_driver.hpp>
#include <latchkey/parker.hpp>
#include <latchkey/permits.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// The operations of a backend. Each is one attempt; a backend retries nothing.
///
/// | verb          | effect                                                    | outcomes      |
/// |---------------|-----------------------------------------------------------|---------------|
/// | acquire       | grants {key, type} to `id` for `lease`, or reports the    | granted, busy |
/// |               | holder. Repeated by a holder: the lease starts anew, the  |               |
/// |               | token stays. FAIR enters (or keeps) its place in the      |               |
/// |               | queue if busy; the other exclusive types do so if         |               |
/// |               | `queues` is set. Both may be granted by a notification    |               |
/// | acquire_all   | acquires all of `members` or none                         | granted, busy |
/// | renew         | the lease of `id` ends in `lease` from now; never earlier | granted, gone |
/// |               | than before. With `recall`: nobody held `id` in its       |               |
/// |               | process when it was sent                                  |               |
/// | verify        | checks whether `id` still holds; changes nothing          | granted, gone |
/// | downgrade     | the WRITE of `id` becomes a READ of the same id, with     | granted, gone |
/// |               | `lease`                                                   |               |
/// | expire        | the lease of `id` ends in `lease` from now, or as it      | granted, gone |
/// |               | would before; sent only if `expires` is offered. With     |               |
/// |               | `recall`: nobody holds `id` in its process any more       |               |
/// | release       | ends the hold of `id`                                     | granted, gone |
/// | leave         | `id` gives up its acquire, whatever its outcome: its      | granted, gone |
/// |               | place in the queue, or its hold, ends; a WRITE also if a  |               |
/// |               | downgrade has made a READ of it                           |               |
/// | subscribe     | once it completes, notifications about the key (FAIR:     | granted       |
/// |               | about this id) reach the sink                             |               |
/// | unsubscribe   | ends these notifications                                  | granted       |
/// | inspect       | fills `info`                                              | granted       |
/// | list          | appends the locked keys that match the glob `key` to      | granted       |
/// |               | `names`; with `part`, those of one part of the listing    |               |
/// | force_release | ends every hold of the key, whoever the holders are;      | granted, gone |
/// |               | PERMIT: deletes the semaphore                             |               |
/// | resize        | PERMIT: from now on the semaphore has `permits.total`     | granted       |
/// |               | permits; one that does not exist is made                  |               |
/// | revoke        | notifies those who subscribe to the revocations of `key`; | granted       |
/// |               | changes no hold. If somebody was notified, inspect says   |               |
/// |               | so of the holders of that moment (HolderInfo::revoked)    |               |
/// | latch_set     | the latch `key` gets the count `tokens`, unless it has    | granted, gone |
/// |               | one                                                       |               |
/// | latch_down    | the count of the latch `key` falls by one; at zero the    | granted       |
/// |               | latch is gone and its subscribers are notified. A latch   |               |
/// |               | without a count stays so                                  |               |
/// | latch_count   | reads the count of the latch `key`; none is zero          | granted       |
/// | latch_delete  | the latch `key` has no count any more; subscribers are    | granted, gone |
/// |               | notified                                                  |               |
///
/// PERMIT: an acquire takes `permits.taken` permits of the semaphore, all or none. They are one
/// hold: each of the other verbs applies to all of them, and if one is gone, so is the hold, and
/// the rest is given back.
///
/// Each may also end as `unknown` (no reply: it may run, may have run, or may never run) or as
/// `refused` (the backend rejects it: a permission, a wrong type).
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
  latch_set,
  latch_down,
  latch_count,
  latch_delete,
  resize,
  revoke,
};

/// The name of the verb, for messages and traces.
[[nodiscard]] std::string_view to_string(Verb verb) noexcept;

/// The part of a listing that a `list` requests. A backend that lists everything at once may leave
/// it unchanged, unless `awaited` is set. The same object may be used for one part after another:
/// `waiters` then grows like the names.
struct ListPart {
  ListCursor cursor{};         ///< where the part begins; then: where the next one begins
  std::uint32_t budget = 256;  ///< about how many keys to examine, or to list if `awaited`
  /// List the keys that are waited for, the most waiters first, instead of the locked ones.
  bool awaited = false;
  std::vector<std::uint64_t> waiters{};  ///< awaited: by name, how many wait
  std::uint64_t examined = 0;            ///< about how many keys were examined
  std::uint64_t total = 0;               ///< about how many keys there are; 0: not known
};

/// One member of an acquire_all.
struct Member {
  std::string_view key;
  LockType type = LockType::REENTRANT;
  HoldId id;
  std::size_t hash = 0;  ///< as Request::hash
  bool fenced = false;   ///< as Request::fenced

  [[nodiscard]] constexpr bool wants_token() const noexcept {
    return fenced || type == LockType::FENCED;
  }
};

/// One request. The submitter owns it. The submitter keeps it, and the text that `key` points to,
/// unchanged until it is completed; the backend keeps no pointer to it after that.
struct Request {
  Verb verb = Verb::acquire;
  LockType type = LockType::REENTRANT;
  /// acquire that wants_token(): how many fencing tokens to reserve. latch_set: the count, at least
  /// 1.
  std::uint32_t tokens = 1;
  Permits permits{};     ///< PERMIT: the same for all of a hold; after busy another is possible
  std::string_view key;  ///< with its prefix; 1 byte to 1 KiB
  std::size_t hash = 0;  ///< for latchkey's own use: the key's hash, if it is known already
  HoldId id;
  std::chrono::milliseconds lease{};  ///< acquire, acquire_all, renew, downgrade, expire
  /// acquire, acquire_all, renew, downgrade: the part of `lease` that is a lock_delay: a backend
  /// that ends the holds of a process that has died keeps the key for so long.
  std::chrono::milliseconds lock_delay{};
  /// acquire, FAIR: how long the place in the queue lasts unless the acquire is repeated. WRITE:
  /// for how long new READs are kept out if READs hold the lock, unless the acquire is repeated.
  std::chrono::milliseconds queue_wait{};
  /// acquire of REENTRANT, FENCED and WRITE: if busy, the process waits in line at the backend, if
  /// that offers `grants`, and a release may grant the lock to `id`. PERMIT: if busy, the backend
  /// may keep what is released for `id` until its place ends. leave: so did the acquire. subscribe:
  /// to what is granted to the process in `id`.
  bool queues = false;
  /// subscribe, unsubscribe: to the releases of `key`, for a process that waits in line. The line
  /// serves it, so Outcome::notified does not count it.
  bool in_line = false;
  /// subscribe, unsubscribe: to the latch `key` and not to its lock.
  bool latch = false;
  /// renew, verify, downgrade: the next time that somebody else changes or deletes the key, the
  /// sink gets one notification `changed`. None follows it, or a change by a request of this
  /// backend, until a check asks again. A backend that does not offer `watches` ignores it.
  bool watch = false;
  /// expire, renew: the process has no use for the hold at the moment. The reply says whether
  /// others wait for the key (Outcome::wanted). The next time that a process takes a place in line
  /// for it, the sink gets one notification `wanted`, and the next time that somebody else changes
  /// the key, one `changed`. Set only if the backend offers `recalls`.
  bool recall = false;
  /// acquire of WRITE and FAIR: the hold gets fencing tokens, which rise together with those of
  /// FENCED for the same key. Set only if the backend offers `tokens`.
  bool fenced = false;
  /// subscribe, unsubscribe: to the revocations of `key`, for a process that holds it, and not to
  /// its releases.
  bool revocations = false;
  /// acquire, renew, downgrade, release, leave: a description of the holder for people, to be kept
  /// while it holds, if the backend can store it; empty: none.
  std::string_view note{};
  std::span<const Member> members{};          ///< acquire_all
  LockInfo* info = nullptr;                   ///< inspect
  std::vector<std::string>* names = nullptr;  ///< list
  ListPart* part = nullptr;                   ///< list; null: the whole listing
  /// A time that the submitter read before it submitted: a lease granted in the same process may
  /// count from here, never from earlier.
  Clock::time_point sent{};
  void* context = nullptr;  ///< for the submitter's use
  Request* next = nullptr;  ///< for the backend's use while the request is under way

  /// Whether a grant carries fencing tokens (Outcome::token).
  [[nodiscard]] constexpr bool wants_token() const noexcept {
    return fenced || type == LockType::FENCED;
  }
};

/// The result of a request.
struct Outcome {
  enum class Kind : std::uint8_t { granted, busy, gone, unknown, refused };

  Kind kind = Kind::unknown;
  /// granted, if the request wants_token(): the last token of the block reserved; 0: none.
  /// latch_down and latch_count: the count.
  std::uint64_t token = 0;
  /// busy: try again after this time at the latest: by then the holder's lease has ended, or
  /// something may have changed without a notification. Empty: neither is known.
  std::optional<std::chrono::milliseconds> retry_after{};
  /// granted, release: how many subscribers to the key were notified that it is free, the sink's
  /// own among them. 0: none, or it is not known. granted, revoke: how many were notified of it.
  std::uint64_t notified = 0;
  /// busy: the number of its place in line, which the grant repeats. An acquire with a `queue_wait`
  /// may get one, too, for its lease. PERMIT: 1, for two seconds, unless the acquire is repeated.
  /// FAIR: when this reply was made, as a number that only rises; a grant with a smaller one is
  /// older than the reply. 0: it is not in line.
  std::uint64_t place = 0;
  /// busy, with a place: few others are in line ahead of it, and clients of other libraries may
  /// free the key without a word to those in line: so it also listens for their releases
  /// (Request::in_line).
  bool near_front = false;
  /// busy: the holder is a client of another library, such as Redisson. While such clients take
  /// part in a key, few calls of a process take it over from one another without the backend.
  bool holder_is_foreign = false;
  /// granted, expire with `recall`: somebody waits for the key already.
  bool wanted = false;
  /// granted, acquire of PERMIT: how many permits are available still. Empty: it is not known.
  std::optional<std::uint32_t> permits_left{};
  /// busy, acquire_all: the index of the first member that is busy.
  std::uint32_t busy_member = 0;
  std::string holder{};  ///< busy: the holder, if it is known
  std::string reason{};  ///< unknown, refused: the reason, as a clause without a full stop
  /// unknown, refused: the request was not sent and will not be: there is nothing to release.
  bool never_ran = false;
};

/// An event that the backend publishes without a request.
struct Notification {
  enum class Kind : std::uint8_t {
    released,  ///< `key` may be free: its waiters try again (FAIR: `id` is next)
    granted,   ///< a release granted `key` to `id`, for its lease or `grant_lease` if that is less;
               ///< FAIR: for `fair_grant_lease`
    gone,      ///< `id` no longer holds `key`
    changed,   ///< somebody else has changed `key`, which was watched, or if it has no key, perhaps
               ///< all of them: their holds may be gone
    counted,   ///< the latch `key` has reached zero, has a new count or was deleted
    link_down,  ///< no key, no id: replies will not arrive for a while
    link_up,    ///< the connection is back: notifications may have been missed, holds may be gone
    warning,    ///< no key, no id: the text of `Backend::warning` has changed
    revoked,    ///< somebody asks those who hold `key` to release it
    abandoned,  ///< the process that held `key` has ended, and the backend has ended its hold;
                ///< no id; the text says which process
    wanted,     ///< somebody waits for `key`, which this process has no use for (Request::recall)
  };

  Kind kind = Kind::released;
  std::string_view key{};
  HoldId id{};
  std::uint64_t place = 0;    ///< granted: Outcome::place of the acquire; FAIR: when it was granted
  std::uint64_t token = 0;    ///< granted: as in Outcome
  std::string_view server{};  ///< link_down, link_up: which of several servers; empty: there is one
  /// link_down, link_up, abandoned: the reason, as a clause without a full stop.
  std::string_view text{};
};

/// For how long a release grants a lock to a process that waits in line, at most. A process that
/// learns of it renews; one that was killed or is frozen keeps the others waiting no longer.
inline constexpr std::chrono::seconds grant_lease{3};
/// Like `grant_lease`, for FAIR, whose waiters ask less often: every 2 s.
inline constexpr std::chrono::seconds fair_grant_lease{5};

/// The state of one connection of a backend when its Locks are made.
struct Connection {
  std::string server{};  ///< as in Notification
  bool up = true;
  std::string why{};  ///< if down: the reason, as a clause without a full stop
};

/// Receives outcomes and notifications. Called only by a thread that is inside `drive`, with none
/// of the backend's mutexes held. It may submit further requests.
class Sink {
 public:
  virtual void completed(Request& request, Outcome&& outcome) noexcept = 0;
  virtual void notified(const Notification& notification) noexcept = 0;

 protected:
  ~Sink() = default;
};

/// One connection to a service that keeps locks.
///
/// It makes one attempt for each request. It never blocks on an attempt, never retries, logs, reads
/// a policy or starts a thread. All members are thread-safe. To add a backend, derive from
/// SimpleBackend unless the service can push notifications.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  [[nodiscard]] virtual Capabilities capabilities() const noexcept = 0;

  /// Whether one acquire_all may name both keys. Called only if `capabilities` has
  /// OneStep::partition.
  [[nodiscard]] virtual bool same_partition(std::string_view /*key*/,
                                            std::string_view /*other*/) const noexcept {
    return false;
  }

  /// Scheme, host, port and database for messages; never a user name or a password.
  [[nodiscard]] virtual std::string describe() const = 0;

  /// The service's own name, the same by each of its addresses; empty: it has none, or the backend
  /// is not connected. Two servers of a quorum must not be one.
  [[nodiscard]] virtual std::string identity() const { return {}; }

  /// A reason against using this service for locks, as a clause without a full stop; empty: none.
  /// Queried when the Locks are made and after a notification `warning`, and passed to the
  /// listener.
  [[nodiscard]] virtual std::string warning() const { return {}; }

  /// The backend's connections. Sinks get one link_down or link_up for each change of a connection.
  /// Empty: it has no connection that could be lost. Queried once, when the Locks are made.
  [[nodiscard]] virtual std::vector<Connection> connections() const { return {}; }

  /// Queues the requests, or none if it throws std::bad_alloc; does not call the sink. Requests
  /// submitted by one thread, or by several one after the other under a mutex, are attempted in
  /// that order. Each is completed exactly once, in any order, by a thread inside `drive`.
  virtual void submit(std::span<Request* const> requests, Sink& sink) = 0;

  /// Between `cork` and `uncork` the calling thread submits many requests and does not drive: the
  /// backend may keep them, to send them together (as TCP_CORK). Called in pairs.
  virtual void cork() noexcept {}
  virtual void uncork() noexcept {}

  /// Completes `request` immediately if that takes no longer than to queue it: for locks in the
  /// same process. Returns false if it did not touch the request: submit it then. Does not call the
  /// sink, which receives later notifications. `outcome` is newly made. For one verb either all
  /// requests are completed in this manner or none.
  virtual bool answer(Request& request, Outcome& outcome, Sink& sink);

  /// Carries out an acquire or a release that nobody contends for, if all that `answer` would say
  /// is that it is granted. Returns false if nothing was done: `answer` follows then.
  virtual bool grant_uncontended(const Request& /*request*/, Sink& /*sink*/) noexcept {
    return false;
  }

  /// Uses the calling thread for the backend's work until that thread has delivered something to a
  /// sink, `parker` (the calling thread's own) is unparked, or `until` has passed. Any number of
  /// threads at once. A thread that submits and then drives until its sink unparks it is always
  /// woken. Only these threads make progress for the backend: a thread that needs progress must
  /// drive.
  virtual void drive(Parker& parker, Clock::time_point until) = 0;

  /// For an event loop that waits for outcomes. Null: there is none; the threads in `drive` do
  /// the work. Throws std::bad_alloc.
  [[nodiscard]] virtual std::unique_ptr<LoopDriver> make_loop_driver() { return nullptr; }

  /// Attempts block the thread that drives: an event loop needs other threads for them.
  [[nodiscard]] virtual bool attempts_block() const noexcept { return false; }

  /// Called in the child after a fork, while no other thread exists: drops everything that belongs
  /// to the parent (closes sockets without sending a byte) and every request under way,
  /// uncompleted.
  virtual void forget_parent() noexcept {}
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop
// tidy: long-file because a backend is written against one page

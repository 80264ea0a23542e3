// The record of one round by its workers and the orchestrator. The judge reads nothing else.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstdint>
#include <ctime>
#include <set>
#include <string>
#include <vector>

#include <latchkey/lock_type.hpp>

#include "chaos/fault_kind.hpp"

namespace latchkey::chaos {

/// Nanoseconds of CLOCK_BOOTTIME, which all processes share. 0: has not happened.
using Nanos = std::int64_t;

inline constexpr Nanos millisecond = 1'000'000;

inline Nanos now() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return static_cast<Nanos>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

enum class Outcome : std::uint8_t {
  none,  ///< the call has not returned, or its process was killed
  granted,
  busy,         ///< for the whole wait
  unavailable,  ///< BackendUnavailable
  refused,      ///< BackendRefused
  no_memory,    ///< std::bad_alloc
  killed,       ///< the program that the worker has started for the call was killed
  other,        ///< any other exception; `text` names it
};

/// The resource that a visit lacks.
enum class Lack : std::uint8_t {
  nothing,
  threads,  ///< its Locks are new, so it needs a timer thread, and no thread can be made
  memory,   ///< an allocation of the acquire fails, and one of the release
};

/// A visit that a fault asks for.
enum class Wish : std::uint8_t {
  nothing,
  hang,      ///< its lease ends at a limit (Lease::held_at_most), and it goes on beyond that
  watched,   ///< it lasts until somebody takes the lock away
  listener,  ///< it leaves when somebody asks for the lock
  deaf,      ///< as long, but it does not listen
};

/// One call of acquire and, if it was granted, the visit to the critical section. A visitor asks
/// lost() again and again, and reads the clock *before* each question: at `held_until` the visitor
/// had not been told of a loss.
///
///   called ... entered ......... held_until ..... left
///              |-- surely held --|       (told)   |-- release --|
struct Visit {
  std::uint32_t worker = 0, thread = 0;
  std::uint32_t key = 0;
  LockType type = LockType::REENTRANT;
  Outcome outcome = Outcome::none;
  Lack lack = Lack::nothing;
  Wish wish = Wish::nothing;
  bool listens = false;      ///< it asks again and again whether somebody wants the lock
  bool hung = false;         ///< a hang that lasted until after its limit
  bool limit_named = false;  ///< a hang: the event of its loss says that it was held too long
  bool watchdog = false;     ///< the lease is renewed
  bool killed = false;       ///< its process was killed; set by the orchestrator
  bool waits_forever = false;
  bool loss_taken_back = false;  ///< lost() was true and then false
  bool fork_failed = false;      ///< a forked child found that it holds the lock
  Nanos lease = 0;
  Nanos limit = 0;                  ///< of held_at_most; 0: there is none
  Nanos wait = 0;                   ///< how long the acquire waits; 0: it does not, or for ever
  Nanos called = 0, entered = 0;    ///< the acquire began, and returned
  Nanos held_until = 0;             ///< read before the last lost() that was false
  Nanos deadline = 0;               ///< the latest that remaining() promised
  Nanos told = 0;                   ///< read after the first lost() that was true
  Nanos asked = 0;                  ///< read after the first revoked() that was true
  Nanos left = 0;                   ///< read before the release
  Nanos ended = 0;                  ///< the call, or the release, has returned
  Outcome release = Outcome::none;  ///< granted: it was still held; busy: it had been lost
  std::uint64_t token = 0;
  /// A counter that only the lock protects: every visitor that may write adds one to what it saw.
  /// `intact`: nobody else had changed it between reading and writing.
  std::uint64_t seen = 0;
  bool wrote = false, intact = true;
  Nanos written = 0;  ///< read after writing
  /// The register that checks tokens: the number that was written, 0 if nothing was, or refused.
  std::uint64_t fenced_write = 0;
  bool fenced_refused = false;
  std::array<char, 96> text{};
};

/// The key of a fault that has met no holder.
inline constexpr int no_key = -2;

/// One fault, from before it began until after it had ended.
struct Fault {
  FaultKind kind{};
  int worker = -1;              ///< -1: the server
  int thread = -1;              ///< a thread of `worker`; -1: all of them
  int key = -1;                 ///< -1: every key
  int strength = 0;             ///< as planned
  unsigned excuses = 0;         ///< a mask of Excuse
  int reached = -1;             ///< revoked: how many Locks were told; -1: not known
  bool watched = false;         ///< deleted: the server tells holders at once
  Nanos begins = 0, begun = 0;  ///< read before and after the begin
  Nanos ends = 0, ended = 0;    ///< read before and after the end

  [[nodiscard]] bool has(Excuse excuse) const noexcept { return (excuses & excuse) != 0; }
};

/// The properties of a deployment and the bounds for calls, which are known before the round.
struct Limits {
  /// A check that goes out in time is answered and read within this time.
  Nanos latency = 300 * millisecond;
  /// A wait that is shorter, or has so little left when a call comes first in its process, may end
  /// without a reply.
  Nanos reply = 300 * millisecond;
  /// How long after a fault a worker may still be without its connection.
  Nanos recovery = 2'500 * millisecond;
  Nanos hang = 10'000 * millisecond;
  /// A dead waiter keeps the others of a FAIR key waiting, too.
  Nanos hang_of_key = 16'000 * millisecond;
  /// The longest lease of any visit.
  Nanos longest_lease = 1'500 * millisecond;
  /// Whether processes have places in a queue, as they do unless replicas confirm each grant.
  bool process_queue = true;
  /// Whether a process that waits gets its turn, however many others ask for the key.
  bool turns = true;
  /// Whether a call may not know its outcome although nothing is wrong: a reply counts as missing
  /// if it takes longer than a tenth of the lease, as it may on a busy machine.
  bool hasty = false;
  /// Options::command_timeout of the workers.
  Nanos command_timeout = 500 * millisecond;
  /// By how much later than it may a call returns on a busy machine; 0: the wait is no bound.
  Nanos lateness = 1'000 * millisecond;
  /// The permits of the semaphore of a key with visits of type PERMIT, each of which takes one.
  std::size_t permits = 3;
  /// How long a program may take to react to a signal, or its end to be seen, on a busy machine.
  Nanos reaction = 300 * millisecond;
  /// Within which time a visitor knows what its process is told without asking: that somebody has
  /// changed the key, which one check follows, or wants it.
  Nanos told = 300 * millisecond;
  /// Within which time somebody is granted a key after the limit of its holder, at the latest: the
  /// lease of its last renewal may be rounded up, and waiters may poll.
  Nanos freed = 3'000 * millisecond;
  /// The worker whose visits are programs, which start too seldom for a share of a key; -1: none.
  int tool_worker = -1;
};

struct History {
  std::uint32_t workers = 0, threads = 0, keys = 0;
  /// The numbers from 0 to workers - 1 that no process has: see Settings::without.
  std::set<std::uint32_t> absent{};
  Nanos began = 0;   ///< workers may call
  Nanos calm = 0;    ///< the first fault begins; all workers ask until then
  Nanos healed = 0;  ///< the last fault has ended
  Nanos ended = 0;   ///< no worker calls any more
  std::vector<Visit> visits{};
  std::vector<Fault> faults{};
  std::vector<std::uint64_t> last_tokens{};  ///< the highest of earlier rounds, by key
  /// Workers that lock with another library, which makes no promise about what it tells them.
  std::vector<std::uint32_t> foreign{};
  /// Workers whose calls are coroutines. They cancel some.
  std::vector<std::uint32_t> coroutines{};
  /// Times during which this machine ran nothing for long.
  std::vector<std::pair<Nanos, Nanos>> stalls{};
  Limits limits{};
};

/// Which promise or rule was broken, and a sentence.
struct Violation {
  std::string rule, text;
};

/// max(5 ms, lease/100), as promise 2 says.
inline Nanos margin(Nanos lease) noexcept {
  return lease / 100 > 5 * millisecond ? lease / 100 : 5 * millisecond;
}

/// Others of its type may hold at the same time.
inline bool is_shared(const Visit& visit) noexcept {
  return visit.type == LockType::READ || visit.type == LockType::PERMIT;
}

}  // namespace latchkey::chaos

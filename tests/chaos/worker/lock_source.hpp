// The clients with which workers lock: latchkey, Redisson, the command line tool, or one with a
// known defect that the judge must detect.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include <latchkey/lease.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/wait.hpp>

#include "chaos/history.hpp"

namespace latchkey::chaos {

struct WorkerState;

class HeldLock {
 public:
  virtual ~HeldLock() = default;
  [[nodiscard]] virtual bool lost() const = 0;
  [[nodiscard]] virtual std::chrono::milliseconds remaining() const = 0;
  [[nodiscard]] virtual std::optional<std::uint64_t> token() const = 0;
  /// Whether somebody has asked the holder to release it. The first call begins to listen.
  [[nodiscard]] virtual bool revoked() const { return false; }
  /// Whether the event of its loss said that it was held too long.
  [[nodiscard]] virtual bool limit_named() const { return false; }
  /// False: it had been lost. Throws as latchkey does.
  virtual bool release() = 0;
  /// After the release: the holder was told of a loss before it released, but after the last
  /// question.
  [[nodiscard]] virtual bool was_told() const { return false; }
};

/// SIGKILL ended the program that holds, or waits, for the caller.
struct ToolKilled : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The abilities of a source. The workload leaves out the rest.
struct Abilities {
  bool permits = true;   ///< semaphores
  bool forks = true;     ///< a forked child has holds of its parent, which are lost
  bool scarcity = true;  ///< allocations of a call are those of latchkey
  bool wishes = true;    ///< holds have limits, and their holders can be asked to release them
  /// Visits of a thread begin with this distance; 0: as soon as the log has room.
  std::chrono::milliseconds pace{};
  /// Visits are few, so they last longer: faults would seldom meet a holder otherwise.
  bool long_visits = false;
};

struct Request {
  std::uint32_t key = 0;
  LockType type = LockType::REENTRANT;
  Wait wait = forever;
  Lease lease = watchdog;
};

/// One thread's source.
class LockSource {
 public:
  virtual ~LockSource() = default;
  [[nodiscard]] virtual Abilities abilities() const { return {}; }
  /// Null: busy. Throws as latchkey does.
  virtual std::unique_ptr<HeldLock> acquire(const Request& request) = 0;
  /// Acquires while no thread can be made, with everything made anew that a process has once.
  /// Returns null and throws as `acquire` does.
  virtual std::unique_ptr<HeldLock> acquire_without_threads(const Request& request) {
    return acquire(request);
  }
};

/// Makes the sources of a process.
class LockSources {
 public:
  virtual ~LockSources() = default;
  virtual std::unique_ptr<LockSource> make(std::uint32_t thread) = 0;
};

enum class Client : std::uint8_t {
  latchkey,
  no_lock,      ///< grants everything at once
  reply_lease,  ///< counts its lease from the reply
  thread_id,    ///< its ids are those of threads, so that a late release frees a later hold
  never_lost,   ///< believes that it holds until it releases
};

/// A set of lock types.
using LockTypes = std::uint32_t;
constexpr LockTypes bit_of(LockType type) noexcept {
  return LockTypes{1} << static_cast<unsigned>(type);
}

/// Who acquires in a worker's process.
enum class WorkerKind : std::uint8_t {
  threads,
  idle,        ///< threads whose process keeps what it has released (Options::cache)
  coroutines,  ///< all on one thread; those of the workload wait for them
  redisson,    ///< threads of a Java process; those of the workload wait for them
  tool,        ///< a program of its own for each visit: `latchkey run`
};

/// The worker that locks with the tool, in the deployment that has one.
inline constexpr int tool_worker = 2;

inline constexpr std::chrono::milliseconds watchdog_period{1'500};
/// Options::cache of the workers that keep what they have released, in turn.
inline constexpr std::array<std::chrono::milliseconds, 3> idle_times{
    std::chrono::milliseconds(100), std::chrono::milliseconds(2'000), adaptive_cache};

/// The key of a semaphore, and how many permits it has.
inline constexpr std::uint32_t semaphore_key = 8;
inline constexpr int semaphore_permits = 3;

std::string name_of_key(std::uint32_t key);

std::unique_ptr<LockSources> latchkey_sources(const std::string& uri,
                                              std::chrono::milliseconds cache);
std::unique_ptr<LockSources> coroutine_sources(const std::string& uri);
/// The type that a worker of Redisson asks for.
///
/// Redisson grants a READ or WRITE although another client has a plain lock of that name, so the
/// worker asks for neither where others ask for plain locks. It asks for FENCED locks where all
/// others do, unless the server loses its tokens in this round: Redisson's are those of the server
/// plus one, so they begin at 1 then.
LockType redisson_type(std::uint32_t key, std::uint64_t random, bool loses_tokens);
/// Only explicit leases, and no endless waits.
std::unique_ptr<LockSources> redisson_sources(const std::string& uri);
std::unique_ptr<LockSources> tool_sources(const std::string& uri, WorkerState& state);
std::unique_ptr<LockSources> defective_sources(Client client, std::uint16_t port,
                                               std::uint32_t worker);

}  // namespace latchkey::chaos

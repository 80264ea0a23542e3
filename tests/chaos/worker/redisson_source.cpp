// Locks with Redisson, in a Java process that belongs to this worker.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <stdexcept>
#include <utility>

#include <latchkey/error.hpp>

#include "chaos/worker/lock_source.hpp"
#include "interop/java_peer.hpp"

namespace latchkey::chaos {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

bool is_error(const std::string& answer) { return answer.starts_with("error "); }

/// Redisson's exceptions of the server and its connection. Any other one is a violation.
[[noreturn]] void fail(const std::string& answer) {
  if (answer.find("Redis") != std::string::npos) throw BackendUnavailable(LockSite{}, answer);
  throw std::runtime_error("Redisson: " + answer);
}

/// A Java thread, which is an owner of its own.
///
/// Redisson's id of an owner is that of its thread. A request of which the outcome is unknown may
/// still reach the server. A late unlock would end a later hold of the same thread, and a late lock
/// would be entered again by each later hold, and never end. So after such a request the thread
/// ends, and the next visit has a new one.
class JavaThread {
 public:
  JavaThread(tests::JavaPeer& peer, std::string name) : peer_(peer), name_(std::move(name)) {}

  std::string send(const std::string& command) { return peer_.send(actor(), command); }
  void replace() {
    peer_.send(actor(), "retire");
    ++number_;
  }

 private:
  [[nodiscard]] std::string actor() const { return name_ + '.' + std::to_string(number_); }

  tests::JavaPeer& peer_;
  const std::string name_;
  std::uint64_t number_ = 0;
};

/// Redisson does not report the loss of a lock, so only the deadline ends a hold.
class RedissonHold final : public HeldLock {
 public:
  RedissonHold(JavaThread& thread, std::string release, Nanos deadline, std::uint64_t token)
      : thread_(thread), release_(std::move(release)), deadline_(deadline), token_(token) {}

  [[nodiscard]] bool lost() const override { return now() >= deadline_; }
  [[nodiscard]] milliseconds remaining() const override {
    return milliseconds(std::max<Nanos>(0, (deadline_ - now()) / millisecond));
  }
  [[nodiscard]] std::optional<std::uint64_t> token() const override {
    return token_ == 0 ? std::nullopt : std::optional(token_);
  }
  bool release() override {
    const bool in_time = !lost();
    const std::string answer = thread_.send(release_);
    if (answer == "true") return in_time;
    thread_.replace();
    if (answer == "false" || answer == "error IllegalMonitorStateException") return false;
    fail(answer);
  }

 private:
  JavaThread& thread_;
  const std::string release_;
  const Nanos deadline_;
  const std::uint64_t token_;
};

class RedissonSource final : public LockSource {
 public:
  RedissonSource(tests::JavaPeer& peer, std::uint32_t thread)
      : thread_(peer, "thread" + std::to_string(thread)) {}

  [[nodiscard]] Abilities abilities() const override { return {.wishes = false}; }

  /// Redisson counts a lease from the last of its attempts, which may be sent at the end of the
  /// wait. It is asked for the wait beyond the lease, so the lease counts from the call, and the
  /// holder uses no more of it than was asked for.
  std::unique_ptr<HeldLock> acquire(const Request& request) override {
    const milliseconds wait = request.wait.length();
    const milliseconds lease = request.lease.length(watchdog_period);
    const Nanos asked = now();
    const std::string answer = thread_.send(acquire_command(request, wait, wait + lease));
    const Nanos length = lease.count() * millisecond, waited = wait.count() * millisecond;
    const Nanos at_server = waited + length;
    const Nanos deadline =
        std::min(asked + at_server - margin(at_server), now() + length - margin(length));
    if (answer == "true" || is_number(request, answer)) {
      const bool fenced = request.type == LockType::FENCED;
      return std::make_unique<RedissonHold>(thread_, release_command(request, answer), deadline,
                                            fenced ? std::stoull(answer) : 0);
    }
    const Nanos took = now() - asked;
    // Redisson also says so if a reply was late.
    const bool is_busy = took >= waited && took < waited + 300 * millisecond;
    if (is_error(answer) || !is_busy) thread_.replace();
    if (is_error(answer)) fail(answer);
    return nullptr;
  }

 private:
  static std::string acquire_command(const Request& request, milliseconds wait,
                                     milliseconds lease) {
    const char* verb = "try ";
    std::string arguments = name_of_key(request.key);
    if (request.type == LockType::FENCED) verb = "try_token ";
    if (request.type == LockType::PERMIT) {
      verb = "acquire ";
      arguments += " 1";
    }
    return verb + tests::java_word(request.type) + ' ' + arguments + ' ' +
           std::to_string(wait.count()) + ' ' + std::to_string(lease.count());
  }
  static std::string release_command(const Request& request, const std::string& answer) {
    const std::string lock = tests::java_word(request.type) + ' ' + name_of_key(request.key);
    return request.type == LockType::PERMIT ? "try_release " + lock + ' ' + answer
                                            : "unlock " + lock;
  }
  /// Whether the answer is a token, or the id of a permit.
  static bool is_number(const Request& request, const std::string& answer) {
    if (request.type == LockType::PERMIT) return answer != "none" && !is_error(answer);
    return request.type == LockType::FENCED && answer != "null" && !is_error(answer);
  }

  JavaThread thread_;
};

class RedissonSources final : public LockSources {
 public:
  explicit RedissonSources(const std::string& uri)
      : peer_(uri, watchdog_period, "",
              {"-Dlatchkey.timeout=500", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"}) {}

  std::unique_ptr<LockSource> make(std::uint32_t thread) override {
    auto source = std::make_unique<RedissonSource>(peer_, thread);
    warm_up(*source, thread);
    return source;
  }

 private:
  /// A new virtual machine is slow. The server may be away, which is no violation here.
  static void warm_up(RedissonSource& source, std::uint32_t thread) {
    try {
      for (int visit = 0; visit < 50; ++visit) {
        const auto held = source.acquire({.key = 1'000 + thread, .wait = 0ms, .lease = 400ms});
        if (!held || !held->release()) return;
      }
    } catch (const BackendUnavailable&) {
      return;
    }
  }

  tests::JavaPeer peer_;
};

}  // namespace

LockType redisson_type(std::uint32_t key, std::uint64_t random, bool loses_tokens) {
  using enum LockType;
  switch (key) {
    case 1:
    case 6: return loses_tokens ? REENTRANT : FENCED;
    case 2: return random % 4 == 0 ? WRITE : READ;
    case 3: return FAIR;
    case 4:
    case 7: return random % 2 == 0 ? REENTRANT : FAIR;
    case semaphore_key: return PERMIT;
    default: return REENTRANT;
  }
}

std::unique_ptr<LockSources> redisson_sources(const std::string& uri) {
  return std::make_unique<RedissonSources>(uri);
}

}  // namespace latchkey::chaos

// Locks with latchkey, by its public interface only.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/hold.hpp>
#include <latchkey/locks.hpp>

#include "chaos/worker/lock_source.hpp"
#include "support/no_threads.hpp"

namespace latchkey::chaos {
namespace {

using namespace std::chrono_literals;

class LatchkeyHold final : public HeldLock {
 public:
  explicit LatchkeyHold(Hold hold) : hold_(std::move(hold)) {}
  bool lost() const override { return hold_.lost(); }
  std::chrono::milliseconds remaining() const override { return hold_.remaining(); }
  std::optional<std::uint64_t> token() const override { return hold_.fencing_token(); }
  bool release() override { return hold_.release(); }

 private:
  Hold hold_;
};

Locks connect(const std::string& uri) {
  return Locks::connect(uri, {.watchdog = watchdog_period,
                              .command_timeout = 500ms,
                              .unavailable_after = 3s,
                              .startup = Startup::allow_down});
}

std::unique_ptr<HeldLock> acquire_from(const Locks& locks, const Request& request) {
  const std::string name = name_of_key(request.key);
  std::optional<Hold> hold =
      request.type == LockType::PERMIT
          ? locks.semaphore(name, semaphore_permits).try_acquire(1, request.wait, request.lease)
          : locks.lock(name, request.type).try_acquire(request.wait, request.lease);
  if (!hold) return nullptr;
  return std::make_unique<LatchkeyHold>(std::move(*hold));
}

class LatchkeySource final : public LockSource {
 public:
  LatchkeySource(const Locks& locks, const std::string& uri) : locks_(locks), uri_(uri) {}

  std::unique_ptr<HeldLock> acquire(const Request& request) override {
    return acquire_from(locks_, request);
  }
  std::unique_ptr<HeldLock> acquire_without_threads(const Request& request) override {
    const Locks fresh = connect(uri_);
    const tests::NoThreads none;
    return acquire_from(fresh, request);
  }

 private:
  Locks locks_;
  const std::string uri_;
};

class LatchkeySources final : public LockSources {
 public:
  explicit LatchkeySources(const std::string& uri) : uri_(uri), locks_(connect(uri)) {}
  ~LatchkeySources() override { locks_.close(2s); }
  LatchkeySources(const LatchkeySources&) = delete;
  LatchkeySources& operator=(const LatchkeySources&) = delete;

  std::unique_ptr<LockSource> make(std::uint32_t /*thread*/) override {
    return std::make_unique<LatchkeySource>(locks_, uri_);
  }

 private:
  const std::string uri_;
  Locks locks_;
};

}  // namespace

std::string name_of_key(std::uint32_t key) { return "chaos:" + std::to_string(key); }

std::unique_ptr<LockSources> latchkey_sources(const std::string& uri) {
  return std::make_unique<LatchkeySources>(uri);
}

}  // namespace latchkey::chaos

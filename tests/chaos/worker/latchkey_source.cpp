// Locks with latchkey, by its public interface only.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/worker/key_names.hpp"
#include "chaos/worker/latchkey_locks.hpp"
#include "support/no_threads.hpp"

namespace latchkey::chaos {
namespace {

using namespace std::chrono_literals;

class LatchkeySources final : public LockSources {
 public:
  LatchkeySources(const std::string& uri, int min_replicas)
      : uri_(uri), min_replicas_(min_replicas), locks_(connect_worker(uri, min_replicas)) {}
  ~LatchkeySources() override { locks_.close(2s); }
  LatchkeySources(const LatchkeySources&) = delete;
  LatchkeySources& operator=(const LatchkeySources&) = delete;

  std::unique_ptr<LockSource> make(std::uint32_t /*thread*/) override {
    return std::make_unique<Source>(*this);
  }

 private:
  class Source final : public LockSource {
   public:
    explicit Source(const LatchkeySources& all) : all_(all) {}
    std::unique_ptr<HeldLock> acquire(const Request& request) override {
      return acquire_blocking(all_.locks_, request);
    }
    std::unique_ptr<HeldLock> acquire_without_threads(const Request& request) override {
      return chaos::acquire_without_threads(all_.uri_, all_.min_replicas_, request);
    }

   private:
    const LatchkeySources& all_;
  };

  const std::string uri_;
  const int min_replicas_;
  Locks locks_;
};

}  // namespace

Locks connect_worker(const std::string& uri, int min_replicas) {
  return Locks::connect(uri, {.watchdog = watchdog_period,
                              .command_timeout = 500ms,
                              .unavailable_after = 3s,
                              .startup = Startup::allow_down,
                              .min_replicas = min_replicas});
}

std::unique_ptr<HeldLock> acquire_blocking(const Locks& locks, const Request& request) {
  const std::string name = name_of_key(request.key);
  std::optional<Hold> hold =
      request.type == LockType::PERMIT
          ? locks.semaphore(name, semaphore_permits).try_acquire(1, request.wait, request.lease)
          : locks.lock(name, request.type).try_acquire(request.wait, request.lease);
  if (!hold) return nullptr;
  return std::make_unique<LatchkeyHold>(std::move(*hold));
}

std::unique_ptr<HeldLock> acquire_without_threads(const std::string& uri, int min_replicas,
                                                  const Request& request) {
  const Locks fresh = connect_worker(uri, min_replicas);
  const tests::NoThreads none;
  return acquire_blocking(fresh, request);
}

std::string name_of_key(std::uint32_t key) { return std::string(key_names.at(key)); }

std::unique_ptr<LockSources> latchkey_sources(const std::string& uri, int min_replicas) {
  return std::make_unique<LatchkeySources>(uri, min_replicas);
}

}  // namespace latchkey::chaos

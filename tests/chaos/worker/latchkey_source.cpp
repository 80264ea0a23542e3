// Locks with latchkey, by its public interface only.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <array>
#include <atomic>
#include <string_view>

#include <latchkey/listener.hpp>

#include "chaos/worker/key_names.hpp"
#include "chaos/worker/latchkey_locks.hpp"
#include "support/no_threads.hpp"

namespace latchkey::chaos {
namespace {

using namespace std::chrono_literals;

std::size_t number_of(std::string_view key) {
  return static_cast<std::size_t>(std::ranges::find(key_names, key) - key_names.begin());
}

/// Counts the losses of each key whose events say that it was held too long. One visitor of a
/// process at a time has a limit.
class LimitLosses final : public Listener {
 public:
  static const std::shared_ptr<LimitLosses>& all() {
    static const auto the = std::make_shared<LimitLosses>();
    return the;
  }

  void on_event(const Event& event) override {
    if (event.kind == Event::Kind::lost && event.held_too_long) ++losses_.at(number_of(event.key));
  }
  [[nodiscard]] bool wants_everything() const noexcept override { return false; }

  [[nodiscard]] std::uint64_t of(std::size_t key) const { return losses_.at(key); }

 private:
  std::array<std::atomic<std::uint64_t>, key_count> losses_{};
};

class LatchkeySources final : public LockSources {
 public:
  LatchkeySources(const std::string& uri, std::chrono::milliseconds cache)
      : uri_(uri), locks_(connect_worker(uri, cache)) {}
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
      return chaos::acquire_without_threads(all_.uri_, request);
    }

   private:
    const LatchkeySources& all_;
  };

  const std::string uri_;
  Locks locks_;
};

}  // namespace

LatchkeyHold::LatchkeyHold(Hold hold)
    : hold_(std::move(hold)),
      key_(number_of(hold_.key())),
      limits_before_(LimitLosses::all()->of(key_)) {}

bool LatchkeyHold::limit_named() const { return LimitLosses::all()->of(key_) != limits_before_; }

Locks connect_worker(const std::string& uri, std::chrono::milliseconds cache) {
  return Locks::connect(uri, {.watchdog = watchdog_period,
                              .command_timeout = 500ms,
                              .unavailable_after = 3s,
                              .startup = Startup::allow_down,
                              .cache = cache,
                              .listener = LimitLosses::all()});
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

std::unique_ptr<HeldLock> acquire_without_threads(const std::string& uri, const Request& request) {
  const Locks fresh = connect_worker(uri);
  const tests::NoThreads none;
  return acquire_blocking(fresh, request);
}

std::string name_of_key(std::uint32_t key) { return std::string(key_names.at(key)); }

std::unique_ptr<LockSources> latchkey_sources(const std::string& uri,
                                              std::chrono::milliseconds cache) {
  return std::make_unique<LatchkeySources>(uri, cache);
}

}  // namespace latchkey::chaos

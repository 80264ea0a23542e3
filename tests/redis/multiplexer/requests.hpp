// Requests to one peer, without locks.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <latchkey/testing/backend_contract.hpp>

#include "redis/redis_backend.hpp"
#include "support/recorder.hpp"

namespace latchkey::tests {

using Entry = testing::contract::CountingSink::Entry;

class Requests {
 public:
  explicit Requests(const std::string& uri,
                    std::chrono::milliseconds timeout = std::chrono::seconds(2))
      : backend(detail::redis::make_redis_backend(uri, {.command_timeout = timeout})) {}

  /// Submits a request, waits for its reply and returns the outcome.
  Outcome::Kind execute(Verb verb) {
    Entry entry;
    fill(entry, verb);
    submit(entry);
    wait_for(entry);
    return entry.kind;
  }
  /// Repeats an acquire, which ends early while the server is known to be down.
  bool eventually_granted() {
    return eventually([&] { return execute(Verb::acquire) == Outcome::Kind::granted; });
  }
  void fill(Entry& entry, Verb verb, std::string_view key = "key") {
    entry.request.verb = verb;
    entry.request.key = key;
    entry.request.id = {{1, 2}, ++last_number_};
    entry.request.lease = std::chrono::seconds(30);
    entry.request.context = &entry;
    entry.request.sent = Clock::system().now();
    entry.parker = &Parker::mine();
  }
  void submit(Entry& entry) {
    Request* const one[] = {&entry.request};
    backend->submit(one, sink);
  }
  void wait_for(const Entry& entry) {
    while (entry.completions.load(std::memory_order_acquire) == 0) {
      backend->drive(Parker::mine(), Clock::never());
    }
  }

  const std::unique_ptr<Backend> backend;
  testing::contract::CountingSink sink;

 private:
  std::atomic<std::uint64_t> last_number_ = 0;
};

}  // namespace latchkey::tests

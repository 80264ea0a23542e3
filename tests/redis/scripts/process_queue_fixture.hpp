// Fixture of the tests of the process queue: processes that wait, by number.
#pragma once

#include <string>
#include <string_view>

#include "redis/scripts/script_fixture.hpp"

namespace latchkey::tests {

class ProcessQueueScripts : public ScriptTest {
 protected:
  static constexpr std::string_view queue = "latchkey_process_queue:{k}",
                                    places = "latchkey_process_queue:{k}:places";

  /// The attempt number 1 of a process.
  static HoldId process(std::uint64_t number) {
    return {{0x6ad76760e86c8273, 0xa5a4ad3e58e60000 + number}, 1};
  }
  static std::string channel(std::uint64_t number) {
    return "redisson_lock__channel:{k}:" + process(number).text().substr(0, 36);
  }

  Outcome wait(std::uint64_t number, LockType type = LockType::REENTRANT,
               milliseconds its_lease = lease, std::uint32_t tokens = 1) {
    Request request =
        ScriptClient::make_request(Verb::acquire, "k", type, process(number), its_lease);
    request.queues = true;
    request.tokens = tokens;
    return client.send(request);
  }
  Outcome leave(std::uint64_t number, LockType type = LockType::REENTRANT) {
    Request request = ScriptClient::make_request(Verb::leave, "k", type, process(number));
    request.queues = true;
    return client.send(request);
  }
  Outcome release(std::uint64_t number, LockType type = LockType::REENTRANT) {
    return client.send(Verb::release, "k", type, process(number));
  }
  bool holds(std::uint64_t number, LockType type = LockType::REENTRANT) {
    return client.send(Verb::verify, "k", type, process(number)).kind == Kind::granted;
  }
  /// The process has not tried again for longer than its place lasts. `end`: epoch ms.
  void end_place_of(std::uint64_t number, long long end = 1) {
    redis({"HSET", places, process(number).text(), std::to_string(end) + " 60000 0"});
  }
  static std::string ask(std::uint64_t number) { return channel(number) + " 0"; }
  static std::string grant(std::uint64_t number, std::uint64_t place, std::uint64_t token = 0) {
    return channel(number) + " 1 " + std::to_string(place) + ' ' + std::to_string(token);
  }
};

}  // namespace latchkey::tests

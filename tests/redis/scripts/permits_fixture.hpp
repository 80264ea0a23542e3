// Requests about one semaphore, sent to a real server.
#pragma once

#include <string>
#include <string_view>

#include "redis/scripts/script_fixture.hpp"

namespace latchkey::tests {

class PermitsTest : public ScriptTest {
 protected:
  static constexpr std::string_view key = "k", taken = "{k}:timeout", channel = "redisson_sc:{k}";

  static Request request(Verb verb, std::uint64_t number, std::uint32_t permits = 1,
                         milliseconds length = lease, std::uint32_t total = 3) {
    Request made = ScriptClient::make_request(verb, key, LockType::PERMIT, id(number), length);
    made.permits = {permits, total};
    return made;
  }
  Outcome acquire(std::uint64_t number, std::uint32_t permits = 1, milliseconds length = lease) {
    return client.send(request(Verb::acquire, number, permits, length));
  }
  Kind send(Verb verb, std::uint64_t number, std::uint32_t permits = 1,
            milliseconds length = lease) {
    return client.send(request(verb, number, permits, length)).kind;
  }
  LockInfo look() {
    LockInfo info;
    Request asked = request(Verb::inspect, 0);
    asked.info = &info;
    static_cast<void>(client.send(asked));
    return info;
  }
  std::string available() { return redis({"GET", key}).text(); }
  long long members() { return redis({"ZCARD", taken}).integer(); }
};

}  // namespace latchkey::tests

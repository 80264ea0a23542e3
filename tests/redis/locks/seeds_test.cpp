// The locker's scenarios on a real server.
#include "seeds/locker.hpp"
#include "support/servers/redis_server.hpp"

namespace latchkey::tests {
namespace {

/// One server for all scenarios: their keys are their own.
RedisServer& server() {
  static RedisServer the;
  return the;
}

INSTANTIATE_TEST_SUITE_P(
    Redis, Locker,
    ::testing::Values(
        Place{"tcp", [](Options options) { return Locks::connect(server().tcp_uri(), options); }},
        Place{"unix",
              [](Options options) { return Locks::connect(server().unix_uri(), options); }}),
    [](const auto& place) { return std::string(place.param.name); });

}  // namespace
}  // namespace latchkey::tests

// One Redis server.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/deployment/redis/single_server.hpp"

#include <filesystem>
#include <memory>

namespace latchkey::chaos {

using enum FaultKind;

namespace {
int jump_of(const PlannedFault& fault) { return static_cast<int>(clock_jump(fault).count()); }
}  // namespace

SingleServer::SingleServer()
    : server_([this] {
        tests::RedisServerOptions options = persistent();
        options.launcher = clock_.launcher();
        return options;
      }()) {}

tests::RedisServerOptions SingleServer::persistent() {
  return {.config = {"appendonly yes", "appendfsync no", "lua-time-limit 150"}};
}

bool SingleServer::has(FaultKind kind) const noexcept {
  if (is_of_tool(kind)) return false;
  return kind < node_stop || kind > member_kill;
}

void SingleServer::run_busy_script(int length_ms) {
  busy_script_ = std::jthread([client = std::make_shared<tests::RedisClient>(server_.client()),
                               length = std::to_string(length_ms * 1'000)] {
    constexpr std::string_view script =
        "local function micros() local t = redis.call('time') return t[1] * 1000000 + t[2] end "
        "local last = micros() + ARGV[1] while micros() < last do end";
    (*client)({"EVAL", script, "0", length});
  });
}

void SingleServer::begin(const PlannedFault& fault) {
  const std::string length = std::to_string(fault.length_ms);
  switch (fault.kind) {
    case server_stop_short:
    case server_stop_long: return server_.stop();
    case server_kill:
    case server_kill_empty: return server_.kill();
    case server_shutdown: return server_.shut_down();
    case server_pause: return send(server_, {"CLIENT", "PAUSE", length, "ALL"});
    case server_pause_writes: return send(server_, {"CLIENT", "PAUSE", length, "WRITE"});
    case busy_script: return run_busy_script(fault.length_ms);
    case clock_forward: return clock_.jump(jump_of(fault));
    case clock_back: return clock_.jump(-jump_of(fault));
    case forced_release: return force_release(server_.tcp_uri(), fault);
    default: return begin_on(server_, fault);
  }
}

void SingleServer::end(const PlannedFault& fault) {
  switch (fault.kind) {
    case server_stop_short:
    case server_stop_long: return server_.resume();
    case server_kill_empty:
      std::filesystem::remove_all(server_.folder() / "appendonlydir");
      std::filesystem::remove(server_.folder() / "appendonly.aof");  // Redis 6
      return server_.start();
    case server_kill:
    case server_shutdown: return server_.start();
    case busy_script: return busy_script_.join();
    // Not for longer: tokens rise through a loss of data only while the clock is not set back.
    case clock_back: return clock_.jump(jump_of(fault));
    default: return end_on(server_, fault);
  }
}

}  // namespace latchkey::chaos

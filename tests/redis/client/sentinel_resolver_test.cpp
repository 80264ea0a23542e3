// Sentinels that reply one after the other.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "scripted_peer.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using testing::bulk;
using testing::Command;
using testing::ScriptedPeer;

// One sentinel names the master and withdraws its answer before the others reply, so no answer is
// left.
TEST(RedisSentinels, NoMasterIsKnownAfterTheOnlyAnswerIsWithdrawn) {
  std::atomic<int> asked = 0;
  ScriptedPeer forgetful(ScriptedPeer::OnPort{}, [&](const Command& command) {
    if (command[0] != "SENTINEL") return ScriptedPeer::proper(command);
    if (command[1] == "MASTER" && asked++ == 0) {
      return "*2\r\n" + bulk("config-epoch") + bulk("1");
    }
    if (command[1] == "MASTER" || asked > 1) {
      return std::string("-ERR No such master with that name\r\n");
    }
    return "*2\r\n" + bulk("127.0.0.1") + bulk("1") + testing::message("+switch-master", "x");
  });
  const auto silent = [](const Command&) { return std::string(); };
  ScriptedPeer second(ScriptedPeer::OnPort{}, silent), third(ScriptedPeer::OnPort{}, silent);
  const auto at = [](const ScriptedPeer& peer) {
    return "127.0.0.1:" + std::to_string(peer.port());
  };
  try {
    static_cast<void>(Locks::connect(
        "redis+sentinel://" + at(forgetful) + "," + at(second) + "," + at(third) + "/orders",
        {.command_timeout = 2s}));
    FAIL() << "nobody knows of a master";
  } catch (const BackendUnavailable&) {
  }
  EXPECT_GE(asked, 2);
}

}  // namespace
}  // namespace latchkey::tests

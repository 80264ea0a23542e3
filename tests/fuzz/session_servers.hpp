// The kinds of servers, and their replies.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string_view>

#include <latchkey/options.hpp>

#include "redis/protocol/scripts.hpp"
#include "redis/session/session.hpp"

namespace latchkey::fuzz {

/// Replies to a script, usual and unusual ones.
inline constexpr std::array<std::string_view, 35> script_answers{
    ":1\r\n",
    ":0\r\n",
    "_\r\n",
    "$-1\r\n",
    "*2\r\n:1500\r\n$3\r\nu:1\r\n",
    "*2\r\n:-1\r\n$9\r\nu:1:write\r\n",
    "-NOSCRIPT No matching script. Please use EVAL.\r\n",
    "-OOM command not allowed when used memory > 'maxmemory'. script: f00, on @user_script:1.\r\n",
    "-ERR Error running script (call to f_1): @user_script:3: WRONGTYPE Operation\r\n",
    "-BUSY Redis is busy running a script.\r\n",
    "-\r\n",
    "+OK\r\n",
    "*1\r\n$1\r\n0\r\n",
    "*3\r\n$2\r\n17\r\n$1\r\na\r\n$1\r\nb\r\n",
    "*2\r\n$1\r\n0\r\n$1\r\na\r\n",
    "*4\r\n$4\r\nread\r\n$2\r\n12\r\n*4\r\n$3\r\nu:1\r\n:1\r\n:900\r\n$1\r\nn\r\n*1\r\n$3\r\nu:"
    "2\r\n",
    "*4\r\n$5\r\nwrite\r\n$0\r\n\r\n*4\r\n$9\r\nu:1:write\r\n:2\r\n:-1\r\n$0\r\n\r\n*0\r\n",
    "*5\r\n$0\r\n\r\n$2\r\n12\r\n*0\r\n*0\r\n:3\r\n",
    "*6\r\n$1\r\n0\r\n:9\r\n$1\r\na\r\n:2\r\n$1\r\nb\r\n:1\r\n",
    "*2\r\n:1500\r\n$38\r\n4f1c2d3e-0a1b-4c2d-8e3f-001122334455:7\r\n",
    "*3\r\n:1500\r\n$3\r\nu:1\r\n:1\r\n",
    "-NOPERM User u has no permissions to run the 'pexpire' command script: f00, on "
    "@user_script:1.\r\n",
    "-ERR The user executing the script can't run this command or subcommand script: f00, on "
    "@user_script:9.\r\n",
    "-ERR Error running script (call to f_1): @user_script:5: @user_script: 5: -NOPERM this "
    "user has no permissions to run this command \r\n",
    "*0\r\n",
    "#t\r\n",
    ",1.5\r\n",
    "-MOVED 15495 127.0.0.1:7001\r\n",
    "-ASK 15495 :7001\r\n",
    "-TRYAGAIN Multiple keys request during rehashing of slot\r\n",
    "-READONLY You can't write against a read only replica.\r\n",
    "*4\r\n:1500\r\n$3\r\nu:1\r\n:2\r\n:1\r\n",
    "-ERR unknown command 'EVALSHA', with args beginning with: 'f00'\r\n",
    "-ERR Unknown Redis command called from script script: f00, on @user_script:9.\r\n",
    "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
};

/// Replies that only one script has.
struct OwnAnswers {
  const detail::redis::Script& script;
  std::array<std::string_view, 2> answers;
};
inline const std::array<OwnAnswers, 5> own_answers{{
    {detail::redis::scripts::inspect,
     {"*6\r\n$5\r\nwrite\r\n$2\r\n41\r\n*4\r\n$9\r\nu:1:write\r\n:2\r\n:-1\r\n$1\r\nn\r\n"
      "*1\r\n$3\r\nu:2\r\n:3\r\n*1\r\n:90\r\n",
      "*6\r\n$4\r\nread\r\n$0\r\n\r\n*0\r\n*0\r\n:-1\r\n*1\r\n:-1\r\n"}},
    {detail::redis::scripts::inspect_permits,
     {"*6\r\n:1\r\n:3\r\n:2\r\n*1\r\n:90\r\n$32\r\n00112233445566778899aabbccddeeff\r\n:900\r\n",
      "*4\r\n:3\r\n:3\r\n:-1\r\n*0\r\n"}},
    {detail::redis::scripts::acquire_permits,
     {"*3\r\n:1500\r\n:5\r\n:1\r\n", "*3\r\n:1500\r\n:1\r\n:0\r\n"}},
    {detail::redis::scripts::list_page,
     {"*4\r\n$2\r\n17\r\n:9\r\n$1\r\na\r\n$1\r\nb\r\n", "*3\r\n$1\r\n0\r\n:9\r\n$1\r\na\r\n"}},
    {detail::redis::scripts::list_awaited,
     {"*6\r\n$1\r\n0\r\n:9\r\n$1\r\na\r\n:2\r\n$1\r\nb\r\n:1\r\n", "*2\r\n$1\r\n0\r\n:0\r\n"}},
}};

inline constexpr std::string_view slots_answer =
    "*1\r\n*4\r\n:0\r\n:16383\r\n*3\r\n$1\r\nh\r\n:7000\r\n$2\r\nid\r\n*3\r\n$0\r\n\r\n:7001\r\n$2"
    "\r\nid\r\n";

enum class Kind { alone, numbered, cluster, sharded, replicas };
inline constexpr std::size_t kinds = 5;

inline detail::redis::Session::Settings settings_for(Kind kind, std::chrono::milliseconds timeout) {
  detail::redis::Session::Settings settings;
  settings.login.client_name = "player";
  settings.login.database = kind == Kind::numbered ? 1 : 0;
  settings.login.cluster = kind == Kind::cluster || kind == Kind::sharded;
  using detail::redis::ShardedPubSub;
  settings.login.sharded = kind == Kind::sharded ? ShardedPubSub::on : ShardedPubSub::off;
  settings.login.watches = kind == Kind::alone || kind == Kind::sharded;
  settings.login.replicas = kind == Kind::replicas;
  settings.min_replicas = kind == Kind::replicas ? 1 : 0;
  settings.endpoint = {"h", 7000};
  settings.timeout = timeout;
  settings.seed = 7;
  return settings;
}

}  // namespace latchkey::fuzz

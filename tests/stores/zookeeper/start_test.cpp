// Tests of Locks::connect with wrong URIs, users and servers; nodes and watches at the server.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <future>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <latchkey/detail/testing/contract/probe.hpp>

#include "backend/registry.hpp"
#include "fixture.hpp"
#include "support/child.hpp"
#include "support/request_group.hpp"
#include "support/servers/scripted_server.hpp"

namespace latchkey::tests {
namespace {

using ZooKeeperStart = ZooKeeperTest;

template <class Error, class Call>
std::string message(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(ZooKeeperStart, AMalformedUriIsOneSentence) {
  const auto refusal = [](const std::string& uri) {
    return message<std::invalid_argument>([&] { static_cast<void>(connect_zookeeper(uri)); });
  };
  EXPECT_NE(refusal("zookeeper://h?sesion=3s").find("unknown option 'sesion'"), std::string::npos);
  EXPECT_NE(refusal("zookeeper://h?session=3").find("invalid value '3'"), std::string::npos);
  EXPECT_NE(refusal("zookeeper://h/a//b").find("invalid path '/a//b'"), std::string::npos);
  EXPECT_NE(refusal("zookeeper://joe@h").find("expected both user and password"),
            std::string::npos);
  EXPECT_NE(refusal("zookeeper://h?acl=creator").find("acl=creator needs user"), std::string::npos);
  EXPECT_EQ(refusal("zookeeper://joe:secret@h?x=1").find("secret"), std::string::npos);
}

TEST_F(ZooKeeperStart, ASessionThatTheServerDoesNotOfferIsRefusedWithTheNearest) {
  const auto refusal = [&](const std::string& session) {
    return message<BackendRefused>(
        [&] { static_cast<void>(connect_zookeeper(server().uri("/a?session=" + session), 1s)); });
  };
  EXPECT_NE(refusal("25s").find("the nearest is session=20s"), std::string::npos) << refusal("25s");
  EXPECT_NE(refusal("100ms").find("the nearest is session=500ms"), std::string::npos);
}

TEST_F(ZooKeeperStart, AServerThatDoesNotListenIsUnavailable) {
  const std::string why = message<BackendUnavailable>(
      [] { static_cast<void>(connect_zookeeper("zookeeper://127.0.0.1:1/locks")); });
  EXPECT_NE(why.find("connection refused"), std::string::npos) << why;
}

/// Answers as a server that knows no operation but getChildren: it rejects the others as ZooKeeper
/// 3.4 rejects those that are newer.
void answer_as_old_server(std::string& received, std::string& to_send) {
  constexpr std::string_view children{"\0\0\0\x08", 4}, unimplemented{"\xff\xff\xff\xfa", 4};
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t byte = at; byte < at + 4; ++byte) {
      value = value << 8U | static_cast<unsigned char>(received[byte]);
    }
    return value;
  };
  while (received.size() >= 12 && received.size() >= 4 + number(0)) {
    const std::string message = received.substr(4, number(0));
    received.erase(0, 4 + message.size());
    std::string reply;
    if (message.size() > 16 && message.starts_with(std::string(4, '\0'))) {
      reply = std::string(4, '\0') + message.substr(12, 4);  // a session of that timeout
      reply +=
          std::string(7, '\0') + '\1' + std::string(3, '\0') + '\x10' + std::string(16, 'p') + '\0';
    } else {
      const bool lists = message.substr(4, 4) == children;
      reply = message.substr(0, 4) + std::string(8, '\0');
      reply += lists ? std::string(8, '\0') : std::string(unimplemented);
    }
    to_send += std::string(3, '\0') + static_cast<char>(reply.size()) + reply;
  }
}

TEST_F(ZooKeeperStart, AServerThatIsTooOldIsNamed) {
  const ScriptedServer old(answer_as_old_server);
  const Locks locks = connect_zookeeper("zookeeper://" + old.address() + "/locks");
  const std::string why =
      message<BackendRefused>([&] { static_cast<void>(locks.lock("key").try_acquire(0s)); });
  EXPECT_NE(why.find("older than ZooKeeper 3.5.3"), std::string::npos) << why;
}

/// Answers as answer_as_old_server does, but creations with what the test says: the first with the
/// first reply, and so on; the last one repeats.
class CreationReplies {
 public:
  /// `replies`: without the number of the request.
  explicit CreationReplies(std::deque<std::string> replies) : replies_(std::move(replies)) {}
  void operator()(std::string& received, std::string& to_send) {
    while (received.size() >= 12) {
      std::string message = received.substr(0, 4 + static_cast<unsigned char>(received[3]));
      if (received.size() < message.size()) break;
      received.erase(0, message.size());
      const bool creates = message.size() > 12 && message[11] == '\x0F' && message[4] != '\0';
      if (creates) {
        const std::string reply = message.substr(4, 4) + replies_.front();
        if (replies_.size() > 1) replies_.pop_front();
        to_send += std::string(3, '\0') + static_cast<char>(reply.size()) + reply;
      } else {
        answer_as_old_server(message, to_send);
      }
    }
  }

 private:
  std::deque<std::string> replies_;
};

/// A creation has succeeded, and `body` follows.
std::string success(const std::string& body) { return std::string(12, '\0') + body; }

// The process that held a lock was aborted.
TEST_F(ZooKeeperStart, AMalformedReplyEndsNoProcess) {
  const std::string size(3, '\0'), stat(68, '\1');
  const std::string long_size{"\x7f\xff\xff\xff", 4}, negative_size{"\xff\xff\xff\x00", 4};
  for (const std::string& body :
       {size + "\1/" + stat, size + "\x0E/elsewhere/x-y" + stat, std::string(4, '\0') + stat,
        std::string(), size + "\1/" + stat.substr(1), long_size + "/" + stat,
        negative_size + stat}) {
    const ScriptedServer server{CreationReplies({success(body)})};
    const Locks locks = connect_zookeeper("zookeeper://" + server.address() + "/locks", 6s, 500ms);
    try {
      EXPECT_FALSE(locks.lock("key").try_acquire(0s));
    } catch (const BackendUnavailable&) {
    } catch (const BackendRefused& error) {
      EXPECT_NE(std::string(error.what()).find("the server says that it made"), std::string::npos)
          << error.what();
    }
  }
}

// The entries were read for a place that had been refused. One that nobody else needed was freed by
// then; one that listens took no further request.
TEST_F(ZooKeeperStart, AMalformedReplyToACreationLeavesAPlaceThatListensUsable) {
  const std::string body = std::string(3, '\0') + "\x0E/elsewhere/x-y" + std::string(68, '\1');
  std::optional<ScriptedServer> server(std::in_place, CreationReplies({success(body)}));
  register_zookeeper();
  Options options;
  options.watchdog = 6s;
  options.command_timeout = 5s;
  const std::string uri = "zookeeper://" + server->address() + "/locks";
  testing::Probe probe(detail::find_backend_factory("zookeeper")(uri, options), options);
  auto refused = std::async(std::launch::async, [&] {
    const HoldId id = probe.fresh_id();
    EXPECT_EQ(probe.send(Verb::subscribe, "key", LockType::FAIR, id).kind, Outcome::Kind::granted);
    int count = 0;
    for (int attempt = 0; attempt < 3; ++attempt) {
      const Outcome outcome = probe.acquire("key", LockType::FAIR, id, 6s, 6s);
      if (outcome.reason.find("the server says that it made") != std::string::npos) ++count;
    }
    return count;
  });
  const bool ends = refused.wait_for(20s) == std::future_status::ready;
  EXPECT_TRUE(ends);
  if (!ends) server.reset();  // the loss of the connection completes what is under way
  EXPECT_EQ(refused.get(), 3);
}

// The refusal ended the subscription to the key, and with it the watch that the first call awaited.
TEST_F(ZooKeeperStart, ARefusedSubscriptionAlsoEndsTheCallsThatWaitForItsWatch) {
  const std::string made = success(std::string(3, '\0') + "\1/" + std::string(68, '\1'));
  const std::string forbidden = std::string(8, '\0') + "\xff\xff\xff\x9a";
  std::optional<ScriptedServer> server(std::in_place, CreationReplies({made, forbidden}));
  register_zookeeper();
  Options options;
  options.watchdog = 6s;
  options.command_timeout = 5s;
  const std::string uri = "zookeeper://" + server->address() + "/locks";
  const auto backend = detail::find_backend_factory("zookeeper")(uri, options);
  auto sent = std::async(std::launch::async, [&] {
    RequestGroup both;
    both.add(Verb::subscribe, "key", LockType::REENTRANT, {});
    both.add(Verb::subscribe, "key", LockType::REENTRANT, {});
    return both.send(*backend);
  });
  const bool ends = sent.wait_for(20s) == std::future_status::ready;
  EXPECT_TRUE(ends);
  if (!ends) server.reset();  // the loss of the connection completes what is under way
  for (const Outcome& outcome : sent.get()) {
    EXPECT_EQ(outcome.kind, Outcome::Kind::refused);
    EXPECT_NE(outcome.reason.find("does not let this user use"), std::string::npos);
  }
}

TEST_F(ZooKeeperStart, OtherUsersCannotUseTheNodesOfAUser) {
  const std::string folder = fresh_folder();
  const std::string host = server().address() + folder;
  const Locks ours = connect_zookeeper("zookeeper://joe:p%40ss@" + host);
  const Hold hold = ours.lock("key").acquire(1s);
  EXPECT_EQ(ours.describe(), "zookeeper://" + host);
  const std::string why = message<BackendRefused>(
      [&] { static_cast<void>(connect_zookeeper("zookeeper://joe:wrong@" + host)); });
  EXPECT_NE(why.find("check user and password"), std::string::npos) << why;
  EXPECT_EQ(why.find("wrong"), std::string::npos) << why;
  const Locks same = connect_zookeeper("zookeeper://joe:p%40ss@" + host);
  EXPECT_FALSE(same.lock("key").try_acquire(0s));
  // Without the folder's permission, but with that of its parent.
  const Locks above = connect_zookeeper("zookeeper://" + server().address());
  EXPECT_THROW(static_cast<void>(above.lock(folder.substr(1) + "/key").try_acquire(0s)),
               BackendRefused);
}

TEST_F(ZooKeeperStart, NodesAreThoseOfCuratorAndEndWithTheLocks) {
  const std::string folder = fresh_folder();
  {
    const Locks locks = connect_zookeeper(server().uri(folder));
    const Hold plain = locks.lock("orders/42").acquire(1s);
    const Hold read = locks.lock("order", LockType::READ).acquire(1s);
    const Hold write = locks.lock("a%b", LockType::WRITE).acquire(1s);
    const std::string dump = server().ask("dump");
    EXPECT_NE(dump.find(folder + "/orders/42/_c_"), std::string::npos) << dump;
    EXPECT_NE(dump.find("-lock-0000000000"), std::string::npos) << dump;
    EXPECT_NE(dump.find("-__READ__0000000000"), std::string::npos) << dump;
    EXPECT_NE(dump.find(folder + "/a%25b/_c_"), std::string::npos) << dump;
    EXPECT_NE(dump.find("-__WRIT__0000000000"), std::string::npos) << dump;
    EXPECT_EQ(locks.list("*").size(), 3U);
  }
  expect_nothing_left(server(), folder);
  const Locks locks = connect_zookeeper(server().uri());
  EXPECT_TRUE(locks.list(folder.substr(1) + "*").empty());
}

/// Each waiter watches the node before it, and no node has two watchers.
TEST_F(ZooKeeperStart, WaitersWatchTheirPredecessorsOnly) {
  const std::string folder = fresh_folder();
  std::vector<Locks> all;
  for (int number = 0; number < 5; ++number) {
    all.push_back(connect_zookeeper(server().uri(folder)));
  }
  std::optional<Hold> hold = all[0].lock("key").acquire(1s);
  std::vector<std::future<void>> waiters;
  for (int number = 1; number < 5; ++number) {
    waiters.push_back(std::async(std::launch::async, [&, number] {
      const Hold next = all[static_cast<std::size_t>(number)].lock("key").acquire(20s);
    }));
    await("a waiter", [&] {
      const auto queue = all[0].inspect("key").queue;
      return queue.size() == static_cast<std::size_t>(number) ? "" : "missing";
    });
  }
  int paths = 0, sessions = 0;
  await("the watches", [&] {
    std::istringstream lines(server().ask("wchp"));  // a path, then its sessions, one a line
    paths = sessions = 0;
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with('\t')) inside = line.starts_with(folder + "/key/_c_");
      if (inside) ++(line.starts_with('\t') ? sessions : paths);
    }
    return sessions >= 4 ? "" : "missing";
  });
  EXPECT_EQ(paths, 4);
  EXPECT_EQ(sessions, 4);
  hold.reset();
  for (auto& waiter : waiters) waiter.get();
}

TEST_F(ZooKeeperStart, AForkedChildLeavesTheParentsSessionAlone) {
  const std::string folder = fresh_folder();
  const Locks locks = connect_zookeeper(server().uri(folder), 2s);
  Hold hold = locks.lock("key").acquire(1s);
  const std::string found = in_child([&](Findings& child) {
    CHILD_EXPECT(child, !locks.lock("key").try_acquire(0s));
    const auto own = locks.lock("own").try_acquire(1s);
    CHILD_EXPECT(child, own.has_value());
  });
  EXPECT_EQ(found, "");
  std::this_thread::sleep_for(3s);  // sleeps: longer than a session lasts without its watchdog
  EXPECT_FALSE(hold.lost());
  EXPECT_TRUE(hold.release());
}

}  // namespace
}  // namespace latchkey::tests

// Runs Redisson in its own process: see RedissonPeer.java.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/lock_type.hpp>

namespace latchkey::tests {

/// The Java process's word for a type.
std::string java_word(LockType type);

/// A Java process that executes commands on Redisson's locks. Each of its actors is a thread, and
/// so an owner. Thread-safe. The destructor ends the process.
class JavaPeer {
 public:
  /// `uris` is the URI of one server, or those of a cluster's nodes, separated by commas. For a
  /// cluster, `sharded` is Redisson's ShardedSubscriptionMode: AUTO, ON or OFF.
  ///
  /// $LATCHKEY_INTEROP_CLASSPATH has the paths of Redisson, and $LATCHKEY_INTEROP_PEER is the
  /// program: a file or a class. `options` are for the virtual machine. Throws std::runtime_error
  /// if the process does not become ready.
  JavaPeer(const std::string& uris, std::chrono::milliseconds watchdog,
           const std::string& sharded = "", const std::vector<std::string>& options = {});
  JavaPeer(const JavaPeer&) = delete;
  JavaPeer& operator=(const JavaPeer&) = delete;
  ~JavaPeer();

  /// Starts the command "VERB TYPE KEY [NUMBER...]" on that actor.
  std::future<std::string> start(const std::string& actor, const std::string& command);
  /// Starts the command and returns its answer: "true", "false", a number, or "error
  /// ExceptionName"; "no answer" if none arrives within 60 s.
  std::string send(const std::string& actor, const std::string& command);

 private:
  void spawn(std::vector<std::string> arguments);
  void read_answers();

  pid_t id_ = -1;
  int input_ = -1, output_ = -1;
  std::promise<void> ready_;
  std::mutex mutex_;
  std::uint64_t last_tag_ = 0;
  std::map<std::string, std::promise<std::string>> pending_;
  std::thread reader_;
};

}  // namespace latchkey::tests

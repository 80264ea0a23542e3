// Redisson in a process of its own: see RedissonPeer.java.
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

namespace latchkey::tests {

/// A Java process that does with Redisson's locks what it is told. Its actors are threads, each an
/// owner of its own. Thread-safe; ended with this object.
class JavaPeer {
 public:
  /// `uris`: a server's; or nodes' of a cluster, with commas between them, and then `sharded` is
  /// Redisson's ShardedSubscriptionMode: AUTO, ON or OFF.
  ///
  /// $LATCHKEY_INTEROP_CLASSPATH and $LATCHKEY_INTEROP_PEER say where Redisson and the program are.
  /// Throws std::runtime_error where it does not get ready.
  JavaPeer(const std::string& uris, std::chrono::milliseconds watchdog,
           const std::string& sharded = "");
  JavaPeer(const JavaPeer&) = delete;
  JavaPeer& operator=(const JavaPeer&) = delete;
  ~JavaPeer();

  /// Begins "VERB TYPE KEY [NUMBER...]" on that actor.
  std::future<std::string> begin(const std::string& actor, const std::string& what);
  /// The same, and its answer: "true", "false", a number, or "error ExceptionName". "no answer"
  /// where none comes for 60 s.
  std::string ask(const std::string& actor, const std::string& what);

 private:
  void start(std::vector<std::string> words);
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

// Clients of other libraries that keep SET NX PX locks, in processes of their own.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace latchkey::tests {

/// The program of a client, or why there is none.
struct PeerProgram {
  std::vector<std::string> command{};
  std::string missing{};  ///< empty: there is one

  /// go/main.go, which is built once. Needs Go, and its modules in the cache or the network.
  static const PeerProgram& redsync();
  /// python/peer.py with one of its clients. $LATCHKEY_PYTHON or python3 has the packages.
  static PeerProgram python(const std::string& client);
  /// node/peer.js, the client of npm's redlock. node finds the packages, perhaps by $NODE_PATH.
  static PeerProgram node();
};

/// A running client. One thread at a time. The destructor ends the process.
class LockPeer {
 public:
  /// `addresses` are those of the servers, such as "127.0.0.1:6379". Throws std::runtime_error if
  /// no process can be started.
  LockPeer(const PeerProgram& program, const std::vector<std::string>& addresses);
  LockPeer(const LockPeer&) = delete;
  LockPeer& operator=(const LockPeer&) = delete;
  ~LockPeer();

  /// Sends a line (go/main.go says which) and returns the answer; "no answer" if none arrives
  /// within 30 s or the process has ended.
  std::string send(const std::string& line);

 private:
  pid_t id_ = -1;
  int socket_ = -1;
};

}  // namespace latchkey::tests

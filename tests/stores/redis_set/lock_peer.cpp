// Clients of other libraries: lines go through a socket that is their standard input and output.
#include "stores/redis_set/lock_peer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "support/go_program.hpp"
#include "support/process.hpp"

extern char** environ;

namespace latchkey::tests {
namespace {

constexpr int patience_ms = 30'000;

const std::filesystem::path sources = LATCHKEY_REDIS_SET_TESTS;

PeerProgram build_redsync() {
  const std::filesystem::path program = LATCHKEY_REDSYNC_PEER;
  const std::string missing = build_go_program(sources / "go", program);
  if (!missing.empty()) return {.missing = missing};
  return {.command = {program}};
}

}  // namespace

const PeerProgram& PeerProgram::redsync() {
  static const PeerProgram program = build_redsync();
  return program;
}

PeerProgram PeerProgram::python(const std::string& client) {
  const char* const chosen = std::getenv("LATCHKEY_PYTHON");
  const std::string python = chosen != nullptr ? chosen : "python3";
  const std::string import = client == "redis-py" ? "import redis" : "import redis, redlock";
  Process check({python, "-c", import}, "/dev/null");
  if (check.wait() != 0) {
    return {.missing = python + " has no " + client + " (scripts/other_languages.sh installs it)"};
  }
  return {.command = {python, sources / "python/peer.py", client}};
}

PeerProgram PeerProgram::node() {
  Process check({"node", "-e", "require('redlock'); require('ioredis')"}, "/dev/null");
  if (check.wait() != 0) {
    return {.missing =
                "node has no redlock and ioredis (scripts/other_languages.sh installs them)"};
  }
  return {.command = {"node", sources / "node/peer.js"}};
}

LockPeer::LockPeer(const PeerProgram& program, const std::vector<std::string>& addresses) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::runtime_error("no socket for the client");
  }
  std::vector<std::string> words = program.command;
  words.insert(words.end(), addresses.begin(), addresses.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  const int failed = ::posix_spawnp(&id_, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  socket_ = ends[0];
  if (failed == 0) return;
  ::close(socket_);
  throw std::runtime_error("the client cannot be started: " + words.front());
}

LockPeer::~LockPeer() {
  ::close(socket_);  // the process ends at the end of its input
  ::waitpid(id_, nullptr, 0);
}

std::string LockPeer::send(const std::string& line) {
  const std::string text = line + "\n";
  if (::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) < 0) return "no answer";
  std::string answer;
  while (!answer.ends_with('\n')) {
    pollfd readable{socket_, POLLIN, 0};
    if (::poll(&readable, 1, patience_ms) <= 0) return "no answer";
    std::array<char, 256> bytes{};
    const ssize_t count = ::read(socket_, bytes.data(), bytes.size());
    if (count <= 0) return "no answer";
    answer.append(bytes.data(), static_cast<std::size_t>(count));
  }
  answer.pop_back();
  return answer;
}

}  // namespace latchkey::tests

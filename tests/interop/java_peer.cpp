// JavaPeer: writes commands to a pipe; a thread reads the answers from another.
#include "interop/java_peer.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <utility>

extern char** environ;

namespace latchkey::tests {

std::string java_word(LockType type) {
  switch (type) {
    case LockType::REENTRANT: return "plain";
    case LockType::FAIR: return "fair";
    case LockType::READ: return "read";
    case LockType::WRITE: return "write";
    case LockType::FENCED: return "fenced";
    case LockType::PERMIT: return "permit";
  }
  return "";
}
namespace {

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) throw std::runtime_error(std::string(name) + " is not set: make interop");
  return value;
}

}  // namespace

JavaPeer::JavaPeer(const std::string& uris, std::chrono::milliseconds watchdog,
                   const std::string& sharded, const std::vector<std::string>& options) {
  // A peer lives for seconds: what a second compiler and threads of a collector win comes too late.
  std::vector<std::string> arguments{"java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.insert(arguments.end(),
                   {"-cp", environment("LATCHKEY_INTEROP_CLASSPATH"),
                    environment("LATCHKEY_INTEROP_PEER"), uris, std::to_string(watchdog.count())});
  if (!sharded.empty()) arguments.push_back(sharded);
  spawn(std::move(arguments));
  reader_ = std::thread([this] { read_answers(); });
  if (ready_.get_future().wait_for(std::chrono::seconds(60)) != std::future_status::ready) {
    ::close(input_);
    reader_.join();
    throw std::runtime_error("the Java peer is not ready after 60 s");
  }
}

JavaPeer::~JavaPeer() {
  ::close(input_);  // the process ends at the end of its input
  reader_.join();
  ::close(output_);
  ::waitpid(id_, nullptr, 0);
}

void JavaPeer::spawn(std::vector<std::string> arguments) {
  std::array<int, 2> to{}, from{};
  if (::pipe2(to.data(), O_CLOEXEC) != 0 || ::pipe2(from.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe to the Java peer");
  }
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
  const int failed = ::posix_spawnp(&id_, "java", &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(to[0]);
  ::close(from[1]);
  input_ = to[1];
  output_ = from[0];
  if (failed != 0) throw std::runtime_error("java cannot be started");
}

void JavaPeer::read_answers() {
  std::string text;
  std::array<char, 4096> bytes{};
  for (;;) {
    const ssize_t count = ::read(output_, bytes.data(), bytes.size());
    if (count <= 0) return;
    text.append(bytes.data(), static_cast<std::size_t>(count));
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      const std::string line = text.substr(0, end);
      text.erase(0, end + 1);
      if (line == "ready") {
        ready_.set_value();
        continue;
      }
      const std::size_t space = line.find(' ');
      const std::lock_guard lock(mutex_);
      auto answered = pending_.extract(line.substr(0, space));
      if (!answered.empty()) answered.mapped().set_value(line.substr(space + 1));
    }
  }
}

std::future<std::string> JavaPeer::start(const std::string& actor, const std::string& command) {
  const std::lock_guard lock(mutex_);
  const std::string tag = std::to_string(++last_tag_);
  std::future<std::string> answer = pending_[tag].get_future();
  const std::string line = tag + " " + actor + " " + command + "\n";
  if (::write(input_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    throw std::runtime_error("the Java peer is gone");
  }
  return answer;
}

std::string JavaPeer::send(const std::string& actor, const std::string& command) {
  std::future<std::string> answer = start(actor, command);
  if (answer.wait_for(std::chrono::seconds(60)) != std::future_status::ready) return "no answer";
  return answer.get();
}

}  // namespace latchkey::tests

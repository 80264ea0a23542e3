// Starts a worker, sends it lines, and reads its lines.
#include "worker.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <nlohmann/json.hpp>

extern char** environ;

namespace latchkey::bench {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

milliseconds until(Clock::time_point end) {
  return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(end - Clock::now()));
}

bool ends_within(pid_t id, milliseconds patience) {
  const auto end = Clock::now() + patience;
  while (::waitpid(id, nullptr, WNOHANG) == 0) {
    if (Clock::now() >= end) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

}  // namespace

Worker::Worker(const std::vector<std::string>& command) {
  std::array<int, 2> to{}, from{};
  if (::pipe2(to.data(), O_CLOEXEC) != 0 || ::pipe2(from.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("cannot make a pipe to " + command.front());
  }
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
  const int failed =
      ::posix_spawnp(&id_, command.front().c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(to[0]);
  ::close(from[1]);
  input_ = to[1];
  output_ = from[0];
  if (failed != 0) throw std::runtime_error("cannot start " + command.front());
}

Worker::~Worker() {
  ::close(input_);
  if (!ends_within(id_, std::chrono::seconds(2))) {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  ::close(output_);
}

void Worker::send(const std::string& line) const {
  const std::string text = line + "\n";
  if (::write(input_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw WorkerFailed("the worker has ended");
  }
}

void Worker::await_ready() {
  const std::string line = read_line(std::chrono::seconds(60));
  if (line != "ready") throw WorkerFailed("expected 'ready', not '" + line + "'");
}

Work Worker::await_work(milliseconds patience) {
  const auto report = nlohmann::json::parse(read_line(patience));
  Work work;
  work.pairs = report.at("pairs").get<std::uint64_t>();
  work.grants = report.at("grants").get<std::uint64_t>();
  work.waited = std::chrono::nanoseconds(report.at("waited_ns").get<std::int64_t>());
  work.longest = std::chrono::nanoseconds(report.at("longest_ns").get<std::int64_t>());
  for (const auto& bucket : report.at("waits")) {
    work.waits.add_to(bucket.at(0).get<std::size_t>(), bucket.at(1).get<std::uint64_t>());
  }
  return work;
}

std::string Worker::read_line(milliseconds patience) {
  const auto end = Clock::now() + patience;
  for (;;) {
    if (const std::size_t size = read_.find('\n'); size != std::string::npos) {
      std::string line = read_.substr(0, size);
      read_.erase(0, size + 1);
      return line;
    }
    pollfd readable{output_, POLLIN, 0};
    if (::poll(&readable, 1, static_cast<int>(until(end).count())) == 0) {
      throw WorkerFailed("the worker did not reply in time");
    }
    std::array<char, 1 << 16> bytes{};
    const ssize_t count = ::read(output_, bytes.data(), bytes.size());
    if (count <= 0) throw WorkerFailed("the worker has ended");
    read_.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

std::vector<std::string> Commands::of(Library library, const std::string& uri) const {
  switch (library) {
    case Library::latchkey: return {latchkey, "--uri", uri};
    case Library::redisson: return {"java", "-cp", classpath, "RedissonWorker", "--uri", uri};
    case Library::rueidislock: return {go, "--library", "rueidislock", "--uri", uri};
    case Library::redsync: return {go, "--library", "redsync", "--uri", uri};
  }
  throw std::logic_error("a library without a worker");
}

}  // namespace latchkey::bench

// Locks with the command line tool: each visit is a `latchkey run`, whose command tells the worker
// that it runs.
// SPDX-License-Identifier: BSL-1.0
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <system_error>
#include <utility>

#include <latchkey/error.hpp>

#include "chaos/worker/held_command.hpp"
#include "chaos/worker/lock_source.hpp"
#include "chaos/worker/pidfd.hpp"
#include "chaos/worker/tool_process.hpp"

namespace latchkey::chaos {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

/// The tool shortens it to a third of the lease. On a busy machine the tool, its command and the
/// worker may need much of it, one after the other, until the worker knows.
constexpr milliseconds kill_after{500};
/// How long before the deadline SIGKILL comes at most.
constexpr milliseconds kill_margin{200};
/// How long a call may take beyond its wait. What takes longer is reported as a hang.
constexpr Nanos patience = 60'000 * millisecond;

/// As docs/cli.md says.
namespace exit_status {
constexpr int success = 0;
constexpr int unavailable = 69;
constexpr int internal = 70;
constexpr int busy = 75;
constexpr int lost = 76;
constexpr int refused = 77;
constexpr int terminated = 128 + SIGTERM;
constexpr int killed = 128 + SIGKILL;
}  // namespace exit_status

/// Throws what is no answer.
[[noreturn]] void throw_for(int status) {
  const std::string sentence = "latchkey run ended with status " + std::to_string(status);
  if (status == exit_status::unavailable) throw BackendUnavailable(LockSite{}, sentence);
  if (status == exit_status::refused) throw BackendRefused(LockSite{}, sentence);
  if (status == exit_status::killed) throw ToolKilled(sentence);
  throw std::runtime_error(sentence);
}

/// False: nothing can be read until then.
bool await_readable(int descriptor, Nanos until) {
  pollfd event{descriptor, POLLIN, 0};
  for (;;) {
    const Nanos left = std::max<Nanos>(0, until - now());
    const int timeout = static_cast<int>((left + millisecond - 1) / millisecond);
    if (::poll(&event, 1, timeout) > 0) return true;
    if (left == 0) return false;
  }
}

class ToolHold final : public HeldLock {
 public:
  ToolHold(std::unique_ptr<ToolProcess> tool, HeldReport report, detail::FileDescriptor command)
      : tool_(std::move(tool)), report_(std::move(report)), command_(std::move(command)) {}

  bool lost() const override {
    while (!told_ && !at_end_ && await_readable(tool_->reports(), 0)) read_report();
    // A command that was killed has written nothing, and its tool may run yet.
    return told_ || at_end_ || await_readable(command_.get(), 0);
  }

  /// As long as the command may work for certain: a lock that nothing renews ends at
  /// LATCHKEY_DEADLINE, which is a whole second, and the command gets SIGTERM before.
  milliseconds remaining() const override {
    const auto wall = std::chrono::system_clock::now().time_since_epoch();
    const auto left = std::chrono::seconds(report_.deadline_s) - wall - kill_after - kill_margin;
    return std::max(0ms, std::chrono::floor<milliseconds>(left));
  }

  std::optional<std::uint64_t> token() const override { return report_.token; }
  bool was_told() const override { return told_; }

  bool release() override {
    tool_->close_stdin();
    for (const Nanos end = now() + patience; !at_end_;) {
      if (!await_readable(tool_->reports(), end)) {
        throw std::runtime_error("latchkey run does not end after its command");
      }
      read_report();
    }
    const int status = tool_->wait();
    if (status == exit_status::success) return true;
    if (status == exit_status::lost) return false;
    throw_for(status);
  }

 private:
  void read_report() const {
    char report = 0;
    const ssize_t size = ::read(tool_->reports(), &report, 1);
    at_end_ = size <= 0;
    told_ = told_ || (!at_end_ && report == told_to_end);
  }

  const std::unique_ptr<ToolProcess> tool_;
  const HeldReport report_;
  const detail::FileDescriptor command_;
  mutable bool told_ = false, at_end_ = false;
};

class ToolSource final : public LockSource {
 public:
  ToolSource(const std::string& uri, const std::string& self, ToolState& state)
      : uri_(uri), self_(self), state_(state) {}

  [[nodiscard]] Abilities abilities() const override {
    return {.permits = false,  // the tool has no semaphores
            .forks = false,
            .scarcity = false,
            .wishes = false,  // the command would not know a request from a loss
            .pace = 250ms,
            .long_visits = true};
  }

  std::unique_ptr<HeldLock> acquire(const Request& request) override {
    // Some calls give up by a signal instead of by their wait, as some coroutines are cancelled.
    const bool cancels = ++acquires_ % 8 == 0;
    return acquire(request, false, cancels ? 20 * millisecond * (acquires_ % 16) : 0);
  }

  std::unique_ptr<HeldLock> acquire_without_threads(const Request& request) override {
    return acquire(request, true, 0);
  }

 private:
  std::vector<std::string> words_for(const Request& request) const;
  std::unique_ptr<HeldLock> acquire(const Request& request, bool threadless, Nanos cancel_after);
  std::unique_ptr<HeldLock> answer_of(ToolProcess& tool, bool threadless, bool cancelled) const;
  std::unique_ptr<HeldLock> hold_of(std::unique_ptr<ToolProcess> tool, const std::string& line,
                                    const Request& request) const;

  const std::string& uri_;
  const std::string& self_;
  ToolState& state_;
  Nanos acquires_ = 0;
};

std::vector<std::string> ToolSource::words_for(const Request& request) const {
  const auto ms = [](milliseconds length) { return std::to_string(length.count()) + "ms"; };
  std::string type(to_string(request.type));
  std::ranges::transform(type, type.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  const milliseconds wait = request.wait.length();
  return {LATCHKEY_TOOL,  "run",
          "--key",        name_of_key(request.key),
          "--type",       type,
          "--wait",       request.wait.is_forever() ? "forever" : wait == 0ms ? "0" : ms(wait),
          "--lease",      request.lease.is_watchdog() ? "watchdog" : ms(request.lease.length(0ms)),
          "--watchdog",   ms(watchdog_period),
          "--kill-after", ms(kill_after),
          "--on-lost",    "term",
          uri_,           "--",
          self_,          "--held"};
}

std::unique_ptr<HeldLock> ToolSource::acquire(const Request& request, bool threadless,
                                              Nanos cancel_after) {
  std::unique_ptr<ToolProcess> tool;
  try {
    tool = std::make_unique<ToolProcess>(state_, words_for(request), threadless);
  } catch (const std::system_error& error) {  // it is the worker that lacks something
    throw BackendUnavailable(LockSite{}, error.what());
  }
  bool cancelled = false;
  if (cancel_after != 0) {
    cancelled = !await_readable(tool->reports(), now() + cancel_after);
    if (cancelled) tool->signal(SIGTERM);
  }
  const Nanos wait = request.wait.is_forever() ? 0 : request.wait.length().count() * millisecond;
  const Nanos end = now() + wait + patience;
  std::string line;
  while (!line.ends_with('\n')) {
    char next = 0;
    if (!await_readable(tool->reports(), end)) {
      throw std::runtime_error("latchkey run does not end after its wait");
    }
    if (::read(tool->reports(), &next, 1) <= 0) return answer_of(*tool, threadless, cancelled);
    line += next;
  }
  state_.holds = true;
  return hold_of(std::move(tool), line, request);
}

/// The tool has ended without a report of its command.
std::unique_ptr<HeldLock> ToolSource::answer_of(ToolProcess& tool, bool threadless,
                                                bool cancelled) const {
  const int status = tool.wait();
  const bool lost_at_once = status == exit_status::lost;  // before its command could report
  if (status == exit_status::busy || lost_at_once) return nullptr;
  if (cancelled && status == exit_status::terminated) return nullptr;
  if (threadless && status == exit_status::internal) {
    throw BackendUnavailable(LockSite{}, "the tool cannot make a thread");
  }
  throw_for(status);
}

std::unique_ptr<HeldLock> ToolSource::hold_of(std::unique_ptr<ToolProcess> tool,
                                              const std::string& line,
                                              const Request& request) const {
  HeldReport report = HeldReport::parse(line);
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  const bool is_of_request = report.key == name_of_key(request.key) &&
                             report.token.has_value() == (request.type == LockType::FENCED);
  const bool ends_in_time =
      std::chrono::seconds(report.deadline_s) <= wall + request.lease.length(watchdog_period);
  if (!is_of_request || !ends_in_time) {
    throw std::runtime_error("the environment of the command is wrong: " + line);
  }
  detail::FileDescriptor command = open_process(report.process);
  const bool has_ended = !command.valid() && errno == ESRCH;
  if (has_ended) return nullptr;  // as if it had not reported; the tool ends, too
  if (!command.valid()) throw BackendUnavailable(LockSite{}, "the worker has no descriptor left");
  return std::make_unique<ToolHold>(std::move(tool), std::move(report), std::move(command));
}

class ToolSources final : public LockSources {
 public:
  ToolSources(const std::string& uri, WorkerState& state)
      : uri_(uri), self_(std::filesystem::read_symlink("/proc/self/exe")), state_(state) {}

  std::unique_ptr<LockSource> make(std::uint32_t thread) override {
    return std::make_unique<ToolSource>(uri_, self_, state_.tools.at(thread));
  }

 private:
  const std::string uri_;
  const std::string self_;
  WorkerState& state_;
};

}  // namespace

std::unique_ptr<LockSources> tool_sources(const std::string& uri, WorkerState& state) {
  return std::make_unique<ToolSources>(uri, state);
}

}  // namespace latchkey::chaos

// The command that `latchkey run` starts for a worker.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/worker/held_command.hpp"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace latchkey::chaos {
namespace {

constexpr std::string_view no_token = "-";

void report_signal(int /*number*/) {
  const int before = errno;
  [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, &told_to_end, 1);
  errno = before;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string(no_token) : value;
}

}  // namespace

std::string HeldReport::text() const {
  return std::to_string(process) + ' ' + key + ' ' + owner + ' ' +
         (token ? std::to_string(*token) : std::string(no_token)) + ' ' +
         std::to_string(deadline_s) + '\n';
}

HeldReport HeldReport::parse(const std::string& line) {
  HeldReport report;
  std::istringstream words(line);
  std::string token;
  if (!(words >> report.process >> report.key >> report.owner >> token >> report.deadline_s)) {
    throw std::runtime_error("a command reports '" + line + "'");
  }
  if (token != no_token) report.token = std::stoull(token);
  return report;
}

int run_held_command() {
  struct sigaction action{};
  action.sa_handler = report_signal;
  action.sa_flags = SA_RESTART;
  // A signal that comes before the report would be taken for a part of it.
  sigset_t term;
  ::sigemptyset(&term);
  ::sigaddset(&term, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &term, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  HeldReport report{
      .process = ::getpid(), .key = variable("LATCHKEY_KEY"), .owner = variable("LATCHKEY_OWNER")};
  const std::string token = variable("LATCHKEY_FENCE");
  if (token != no_token) report.token = std::stoull(token);
  report.deadline_s = std::stoll(variable("LATCHKEY_DEADLINE"));
  const std::string line = report.text();
  const ssize_t written = ::write(STDOUT_FILENO, line.data(), line.size());
  ::sigprocmask(SIG_UNBLOCK, &term, nullptr);
  char none = 0;
  const bool ended = ::read(STDIN_FILENO, &none, 1) == 0;
  return ended && written == static_cast<ssize_t>(line.size()) ? 0 : 1;
}

}  // namespace latchkey::chaos

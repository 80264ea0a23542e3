// Expectations in a forked child, reported to its parent by the exit status.
#pragma once

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>

namespace latchkey::tests {

/// Collects failures in a forked child, in which the expectations of gtest do not work.
class Findings {
 public:
  void expect(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "in the child: %s\n", what);
    good_ = false;
  }
  [[nodiscard]] bool good() const noexcept { return good_; }

 private:
  bool good_ = true;
};

#define CHILD_EXPECT(findings, condition) (findings).expect((condition), #condition)

#ifdef __SANITIZE_ADDRESS__
// How many children in_child() starts, at most, until one does not hang. GCC 12's AddressSanitizer
// does not lock its allocator for a fork, so a child may inherit it locked for ever.
inline constexpr int children = 4;
#else
inline constexpr int children = 1;
#endif

inline constexpr const char* hangs = "the child hangs";

template <class Look>
std::string in_one_child(Look&& look) {
  const pid_t child = ::fork();
  if (child == -1) return "no fork";
  if (child == 0) {
    Findings findings;
    try {
      look(findings);
    } catch (const std::exception& error) {
      findings.expect(false, error.what());
    }
    ::_exit(findings.good() ? 0 : 1);
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(children > 1 ? 10 : 30);
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() >= end) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return hangs;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (WIFSIGNALED(status)) return "the child died of signal " + std::to_string(WTERMSIG(status));
  if (WEXITSTATUS(status) == 0) return {};
  return "the child exits with " + std::to_string(WEXITSTATUS(status));
}

/// Runs `look(findings)` in a forked child. Empty if all expectations were met, otherwise what
/// happened.
template <class Look>
std::string in_child(Look&& look) {
  std::string found = in_one_child(look);
  for (int more = 1; more < children && found == hangs; ++more) found = in_one_child(look);
  return found;
}

}  // namespace latchkey::tests

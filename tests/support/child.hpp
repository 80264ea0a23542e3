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

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LATCHKEY_TESTS_TSAN 1
#endif
#endif

// How many children in_child() starts, at most, until one is not ended by its sanitizer:
// - GCC 12's AddressSanitizer does not lock its allocator for a fork, so a child may inherit it
//   locked for ever.
// - ThreadSanitizer does not support threads that the child of a process with threads starts: its
//   SlotAttachAndLock reads the state of the parent's threads, which was on stacks that glibc has
//   unmapped in the child.
#if defined(__SANITIZE_ADDRESS__) || defined(LATCHKEY_TESTS_TSAN)
inline constexpr int children = 4;
#else
inline constexpr int children = 1;
#endif

inline constexpr const char* hangs = "the child hangs";

inline bool may_be_the_sanitizer(const std::string& found) {
#ifdef LATCHKEY_TESTS_TSAN
  return found == hangs || found == "the child died of signal " + std::to_string(SIGSEGV);
#else
  return found == hangs;
#endif
}

template <class Look>
std::string in_one_child(Look&& look) {
  const pid_t child = ::fork();
  if (child == -1) return "no fork";
  if (child == 0) {
#ifdef LATCHKEY_TESTS_TSAN
    std::signal(SIGSEGV, SIG_DFL);  // to tell a crash from a race, after which it exits with 66
#endif
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
    // sleeps: the end of a child is no event that has a time limit
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
  for (int more = 1; more < children && may_be_the_sanitizer(found); ++more) {
    found = in_one_child(look);
  }
  return found;
}

}  // namespace latchkey::tests

// A process that uses a segment, and ends as the test wants.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>
#include <string>
#include <utility>

#include <latchkey/locks.hpp>

#include "support/fork.hpp"

namespace latchkey::tests {

/// A child that runs `act` on Locks of its own, says so, and then waits for its end.
class HolderProcess {
 public:
  HolderProcess(const std::string& uri, const std::function<void(Locks&)>& act) {
    std::array<int, 2> said{};
    EXPECT_EQ(::pipe2(said.data(), O_CLOEXEC), 0);
    child_ = fork_child();
    if (child_ == 0) {
      try {
        Locks locks = Locks::connect(uri);
        act(locks);
        const char done = 'd';
        static_cast<void>(!::write(said[1], &done, 1));
        for (;;) ::pause();
      } catch (const std::exception& error) {
        static_cast<void>(!::write(2, error.what(), std::string(error.what()).size()));
        ::_exit(1);
      }
    }
    ::close(said[1]);
    char done = 0;
    EXPECT_EQ(::read(said[0], &done, 1), 1) << "the child has failed";
    ::close(said[0]);
  }
  HolderProcess(const HolderProcess&) = delete;
  HolderProcess& operator=(const HolderProcess&) = delete;
  ~HolderProcess() { end(); }

  [[nodiscard]] pid_t pid() const noexcept { return child_; }
  void signal(int number) const noexcept { ::kill(child_, number); }
  /// Kills it. It is a zombie until the end of this.
  void kill() const noexcept { signal(SIGKILL); }
  void end() noexcept {
    if (child_ <= 0) return;
    kill();
    ::waitpid(std::exchange(child_, 0), nullptr, 0);
  }

 private:
  pid_t child_ = 0;
};

}  // namespace latchkey::tests

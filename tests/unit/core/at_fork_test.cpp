// The order in which participants are locked around a fork, and the mutex for it.
#include "core/at_fork.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/small_mutex.hpp"
#include "core/thread_annotations.hpp"
#include "support/fork.hpp"

namespace latchkey::detail {
namespace {

struct Named final : ForkParticipant {
  Named(char letter, std::string& log) : name(letter), said(log) {}
  void prepare() noexcept override { said += name; }
  void parent() noexcept override { said += static_cast<char>(name - 'a' + 'A'); }
  void child() noexcept override { parent(); }
  char name;
  std::string& said;
};

TEST(AtFork, CallsLevelsInOrderBeforeAForkAndInReverseAfterIt) {
  std::string log;
  Named first('a', log), second('b', log), locks('c', log), gone('d', log);
  register_fork_participant(ForkLevel::backend, first);
  register_fork_participant(ForkLevel::locks, locks);
  register_fork_participant(ForkLevel::backend, second);
  register_fork_participant(ForkLevel::locks, gone);
  unregister_fork_participant(gone);
  const pid_t child = tests::fork_child();
  if (child == 0) ::_exit(log == "cabBAC" ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  for (Named* each : {&first, &second, &locks}) unregister_fork_participant(*each);
  EXPECT_EQ(log, "cabBAC");
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// The analysis does not follow what the expectations say.
void expect_free(SmallMutex& mutex) LATCHKEY_NO_THREAD_SAFETY_ANALYSIS {
  EXPECT_TRUE(mutex.try_lock());
  EXPECT_FALSE(mutex.try_lock());
  mutex.unlock();
}

TEST(SmallMutex, ExcludesManySleepingThreads) {
  SmallMutex mutex;
  long counter = 0;
  std::vector<std::thread> threads;
  for (int index = 0; index < 8; ++index) {
    threads.emplace_back([&] {
      for (int round = 0; round < 5'000; ++round) {
        const std::lock_guard lock(mutex);
        const long seen = counter;
        if (round % 100 == 0) std::this_thread::yield();  // so that others do meet it locked
        counter = seen + 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter, 40'000);
  expect_free(mutex);
}

}  // namespace
}  // namespace latchkey::detail

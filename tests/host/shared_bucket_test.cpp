// Keys of one bucket, of all kinds, by processes that are killed: a thin word serves them all.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/locks.hpp>

#include "core/key_table.hpp"
#include "host/host_fixture.hpp"
#include "host/segment_check.hpp"
#include "support/fork.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr std::size_t key_count = 3, workers = 4, threads_of_worker = 3;

/// Keys whose locks have one thin word, and one key with another.
std::array<std::string, key_count> neighbours() {
  std::array<std::string, key_count> keys{"a", "", "b"};
  for (int number = 0; keys[1].empty(); ++number) {
    std::string key = "n" + std::to_string(number);
    const auto bucket = [](std::string_view text) {
      return detail::hash_key(text) % detail::host::bucket_count;
    };
    if (bucket(key) == bucket(keys[0])) keys[1] = std::move(key);
  }
  return keys;
}

/// Who is inside, by key and by process: what a dead process has left there does not count.
struct BucketBoard {
  struct Inside {
    std::array<std::atomic<std::uint32_t>, 4096> readers, writers;
  };
  std::array<Inside, key_count> keys;
  std::array<std::atomic<bool>, 4096> dead;
  std::atomic<std::uint64_t> sections, overlaps;

  [[nodiscard]] bool is_alone(std::size_t key, std::size_t process, bool shared) const {
    std::uint32_t others = 0;
    const std::size_t first = process > 256 ? process - 256 : 1;
    const std::size_t last = std::min<std::size_t>(process + 256, dead.size());
    for (std::size_t each = first; each < last; ++each) {
      if (dead[each]) continue;
      const std::uint32_t mine = each == process ? 1 : 0;
      others += keys[key].writers[each] - (shared ? 0 : mine);
      if (!shared) others += keys[key].readers[each];
    }
    return others == 0;
  }
};

[[noreturn]] void use_neighbours(const std::string& uri, BucketBoard& board, std::size_t process) {
  Locks locks = Locks::connect(uri);
  const auto keys = neighbours();
  std::vector<std::jthread> all;
  for (std::size_t thread = 0; thread < threads_of_worker; ++thread) {
    all.emplace_back([&, thread] {
      std::mt19937 random(static_cast<unsigned>(process * threads_of_worker + thread));
      constexpr std::array types{LockType::REENTRANT, LockType::READ, LockType::WRITE,
                                 LockType::FENCED, LockType::WRITE};
      for (;;) {
        const std::size_t key = random() % key_count;
        const LockType type = types[random() % types.size()];
        if (random() % 16 == 0) static_cast<void>(locks.inspect(keys[key]));
        const std::optional<Hold> hold = locks.lock(keys[key], type).try_acquire(20ms, 30s);
        if (!hold) continue;
        const bool shared = type == LockType::READ;
        auto& inside = shared ? board.keys[key].readers : board.keys[key].writers;
        ++inside[process];
        if (!board.is_alone(key, process, shared)) ++board.overlaps;
        --inside[process];
        ++board.sections;
      }
    });
  }
  for (;;) ::pause();
}

TEST(HostBuckets, KeysOfOneBucketExcludeEachForItself) {
  const TestSegment segment;
  void* const shared = ::mmap(nullptr, sizeof(BucketBoard), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  BucketBoard& board = *::new (shared) BucketBoard{};
  std::size_t last = 0;
  struct Child {
    pid_t pid;
    std::size_t process;
  };
  const auto start = [&]() -> Child {
    const std::size_t process = ++last;
    const pid_t pid = fork_child();
    if (pid == 0) {
      try {
        use_neighbours(segment.uri(), board, process);
      } catch (const std::exception& error) {
        static_cast<void>(!::write(2, error.what(), std::string(error.what()).size()));
        ::_exit(1);
      }
    }
    return {pid, process};
  };
  const auto kill = [&](const Child& child) {
    EXPECT_EQ(::waitpid(child.pid, nullptr, WNOHANG), 0) << "process has ended by itself";
    board.dead[child.process] = true;  // before anybody can have its locks
    ::kill(child.pid, SIGKILL);
    ::waitpid(child.pid, nullptr, 0);
  };
  std::vector<Child> children;
  for (std::size_t index = 0; index < workers; ++index) children.push_back(start());
  const char* const wanted = std::getenv("LATCHKEY_HOST_SECONDS");
  const auto length = std::chrono::seconds(wanted != nullptr ? std::atoi(wanted) : 4);
  std::mt19937 random(7);
  const auto end = Steady::now() + length;
  while (Steady::now() < end && last < 4000) {
    std::this_thread::sleep_for(40ms);  // sleeps: the processes work meanwhile
    Child& child = children[random() % children.size()];
    kill(child);
    child = start();
  }
  for (const Child& child : children) kill(child);
  EXPECT_EQ(board.overlaps, 0U);
  EXPECT_GT(board.sections, 1000U);
  EXPECT_EQ(detail::host::check_segment(segment.place()), std::vector<std::string>{});
  std::printf("%llu sections, %zu processes\n",
              static_cast<unsigned long long>(board.sections.load()), last);
  ::munmap(shared, sizeof(BucketBoard));
}

}  // namespace
}  // namespace latchkey::tests

// Keys of one bucket, of all kinds, by processes that are killed: a thin word serves them all.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/locks.hpp>

#include "core/key_table.hpp"
#include "host/host_fixture.hpp"
#include "host/killed_workers.hpp"
#include "host/segment_check.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr std::size_t key_count = 3, threads_of_worker = 3;

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
  const SharedObject<BucketBoard> shared;
  BucketBoard& board = *shared;
  const std::size_t last = kill_workers(
      40ms, 7, 4000, [&](std::size_t process) { use_neighbours(segment.uri(), board, process); },
      [&](std::size_t process) { board.dead[process] = true; });
  EXPECT_EQ(board.overlaps, 0U);
  EXPECT_GT(board.sections, 1000U);
  EXPECT_EQ(detail::host::check_segment(segment.place()), std::vector<std::string>{});
  std::printf("%llu sections, %zu processes\n",
              static_cast<unsigned long long>(board.sections.load()), last);
}

}  // namespace
}  // namespace latchkey::tests

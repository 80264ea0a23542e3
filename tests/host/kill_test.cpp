// Four processes with eight threads each want one key, and one after the other is killed.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/locks.hpp>

#include "host/host_fixture.hpp"
#include "host/killed_workers.hpp"
#include "host/segment_check.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr std::size_t most_processes = 4096;
constexpr std::uint64_t threads = 8;

/// The memory that the processes write under the lock.
struct Board {
  std::atomic<std::uint64_t> inside;  ///< who is in the section: its process and thread; 0: nobody
  volatile std::uint64_t counter;     ///< changed without an atomic operation
  std::atomic<std::uint64_t> begun, done, overlaps, takeovers;
  std::array<std::atomic<std::int64_t>, most_processes> killed_at;  ///< 0: it lives
  std::array<std::atomic<std::uint32_t>, 1 << 16> takeover_us;

  void enter(std::uint64_t me) {
    const std::uint64_t before = inside.exchange(me);
    if (before == 0) return;
    const std::int64_t killed = killed_at[before / threads].load();
    if (killed == 0) {
      ++overlaps;
      return;
    }
    const std::int64_t now = Steady::now().time_since_epoch().count();
    const std::uint64_t number = takeovers++;
    if (number < takeover_us.size()) {
      takeover_us[number] = static_cast<std::uint32_t>((now - killed) / 1000);
    }
  }
  void leave(std::uint64_t me) {
    if (!inside.compare_exchange_strong(me, 0)) ++overlaps;
  }
};

[[noreturn]] void work(const std::string& uri, Board& board, std::uint64_t process) {
  Locks locks = Locks::connect(uri);
  std::vector<std::jthread> all;
  for (std::uint64_t thread = 0; thread < threads; ++thread) {
    all.emplace_back([&, me = process * threads + thread] {
      for (;;) {
        const Hold hold = locks.lock("hot").acquire();
        board.enter(me);
        ++board.begun;
        const std::uint64_t seen = board.counter;
        const auto until = Steady::now() + 20us;
        while (Steady::now() < until) {
        }
        board.counter = seen + 1;
        ++board.done;
        board.leave(me);
      }
    });
  }
  for (;;) ::pause();
}

TEST(HostKills, NeitherOverlapNorLostUpdate) {
  const TestSegment segment;
  const SharedObject<Board> shared;
  Board& board = *shared;
  const std::size_t processes = kill_workers(
      50ms, 42, most_processes - 8,
      [&](std::size_t process) { work(segment.uri(), board, process); },
      [&](std::size_t process) {
        board.killed_at[process] = Steady::now().time_since_epoch().count();
      });
  EXPECT_EQ(board.overlaps, 0U);
  EXPECT_LE(board.done, board.counter);
  EXPECT_GE(board.begun, board.counter);
  EXPECT_GT(board.done, 100U);
  EXPECT_EQ(detail::host::check_segment(segment.place()), std::vector<std::string>{});
  std::vector<std::uint32_t> takeovers;
  for (std::uint64_t at = 0; at < std::min<std::uint64_t>(board.takeovers, 1 << 16); ++at) {
    takeovers.push_back(board.takeover_us[at]);
  }
  std::ranges::sort(takeovers);
  const auto percentile = [&](std::size_t of) {
    return takeovers.empty() ? 0 : takeovers[(takeovers.size() - 1) * of / 100];
  };
  std::printf("%llu sections, %llu kills, %zu takeovers in the section: p50 %u us, p99 %u us\n",
              static_cast<unsigned long long>(board.done),
              static_cast<unsigned long long>(processes), takeovers.size(), percentile(50),
              percentile(99));
}

}  // namespace
}  // namespace latchkey::tests

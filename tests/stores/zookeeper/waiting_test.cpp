// Calls that wait, or give up, without any fault.
#include <algorithm>
#include <chrono>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fixture.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// The longest time between two grants.
class LongestGap {
 public:
  void granted() {
    const std::lock_guard lock(mutex_);
    longest_ = std::max(longest_, SteadyClock::now() - last_);
    last_ = SteadyClock::now();
  }
  [[nodiscard]] SteadyClock::duration longest() {
    granted();
    return longest_;
  }

 private:
  std::mutex mutex_;
  SteadyClock::time_point last_ = SteadyClock::now();
  SteadyClock::duration longest_{};
};

class ZooKeeperWaiting : public ZooKeeperTest {
 protected:
  static constexpr std::size_t clients = 4;

  /// Each client asks again and again, with waits that often end before its turn. Grants of the
  /// last of `types` never pause for long.
  static void contend(const std::vector<LockType>& types, Lease lease) {
    const std::string folder = fresh_folder();
    std::vector<Locks> all;
    for (std::size_t index = 0; index < clients; ++index) {
      all.push_back(connect_zookeeper(server().uri(folder)));
    }
    const Stalls stalls;
    LongestGap gap;
    const auto end = SteadyClock::now() + 8s;
    std::vector<std::jthread> threads;
    for (std::size_t index = 0; index < clients; ++index) {
      threads.emplace_back([&, index] {
        std::minstd_rand random(static_cast<std::minstd_rand::result_type>(index + 1));
        while (SteadyClock::now() < end) {
          const LockType type = types[random() % types.size()];
          const auto wait = std::chrono::milliseconds(1 + random() % 40);
          try {
            const auto hold = all[index].lock("key", type).try_acquire(wait, lease);
            if (!hold) continue;
            if (type == types.back()) gap.granted();
            // sleeps: this is the time inside the lock
            std::this_thread::sleep_for(std::chrono::milliseconds(random() % 30));
          } catch (const BackendUnavailable&) {
            // The machine is busy: no reply within the wait.
          }
        }
      });
    }
    threads.clear();
    EXPECT_LT(gap.longest(), 2s + stalls.total());
  }
};

// A READ that gave up kept its place for 15 s, and all who came after it waited for that.
TEST_F(ZooKeeperWaiting, ReadsThatGiveUpKeepNobodyWaiting) {
  contend({LockType::READ, LockType::WRITE}, 3s);
}

TEST_F(ZooKeeperWaiting, ShortLeasesThatGiveUpKeepNobodyWaiting) {
  contend({LockType::REENTRANT}, 700ms);
}

TEST_F(ZooKeeperWaiting, ACallThatGivesUpDeletesItsNode) {
  const std::string folder = fresh_folder();
  const Locks one = connect_zookeeper(server().uri(folder));
  const Locks other = connect_zookeeper(server().uri(folder));
  const Hold hold = one.lock("key", LockType::WRITE).acquire(5s);
  for (const auto& [type, lease] :
       {std::pair{LockType::READ, 3000ms}, std::pair{LockType::REENTRANT, 500ms},
        std::pair{LockType::WRITE, 500ms}, std::pair{LockType::FAIR, 500ms},
        std::pair{LockType::REENTRANT, 3000ms}}) {
    SCOPED_TRACE(to_string(type));
    EXPECT_FALSE(other.lock("key", type).try_acquire(100ms, lease));
    const auto end = SteadyClock::now() + 5s;
    await("the end of the node", [&] {
      const bool over = SteadyClock::now() > end;
      return over || one.inspect("key").queue.empty() ? "" : "it is in line";
    });
    EXPECT_TRUE(one.inspect("key").queue.empty());
  }
}

}  // namespace
}  // namespace latchkey::tests

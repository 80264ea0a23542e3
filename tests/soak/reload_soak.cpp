// Reloads policies under load: at least 10 000 times if the soak lasts 60 s or longer.
//
// Each version of the file sets the wait and the lease of three methods to one number, and for one
// of them also the hold_for. A policy must have the values of one version, and the versions that a
// thread sees must never decrease.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <latchkey/decorate.hpp>
#include <latchkey/detail/locked/locked_site.hpp>
#include <latchkey/detail/locked/site_policy.hpp>
#include <latchkey/held.hpp>
#include <latchkey/install.hpp>
#include <latchkey/site.hpp>

#include "soak/settings.hpp"
#include "unit/policy/policy_text.hpp"

namespace latchkey::soak {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// The leases of two versions differ by so much that the time since the grant makes no difference.
constexpr seconds first_lease = 1'000'000s;
constexpr seconds step = 100s;

std::int64_t version_of(milliseconds remaining) {
  // The local deadline precedes the end of the lease by a hundredth of the lease.
  const double lease = static_cast<double>(remaining.count()) / 0.99;
  const double over = lease - static_cast<double>(milliseconds(first_lease).count());
  return static_cast<std::int64_t>(over / static_cast<double>(milliseconds(step).count()) + 0.5);
}

struct Desk {
  std::int64_t first(int key) {
    return LOCKED("first:{key}") AROUND(key) {
      return version_of(latchkey::current_hold()->remaining());
    };
  }
  std::int64_t second(int key) {
    return LOCKED_BY("second") AROUND(key) {
      return version_of(latchkey::current_hold()->remaining());
    };
  }
  /// Only the policy is read. A call would keep the key for ever, as its hold_for is as long as its
  /// lease.
  static void never_called() { LOCKED("never") AROUND(){}; }
};

std::string version_text(std::int64_t version) {
  const std::string time = std::to_string((first_lease + step * version).count()) + "s";
  const std::string words = "{wait: " + time + ", lease: " + time + ", hold_for: 0s}";
  const std::string alike = "{wait: " + time + ", lease: " + time + ", hold_for: " + time + "}";
  return "backends: {main: \"memory:\"}\n"
         "policies:\n  second: {key: \"second:{key}\"}\n"
         "rules:\n  Desk::first: " +
         words + "\n  Desk::second: " + words + "\n  Desk::never_called: " + alike + "\n";
}

const detail::PolicySlot* slot_of(std::string_view method) {
  for (const Site& site : sites()) {
    if (site.name().ends_with(method)) {
      return &static_cast<const detail::LockedSite*>(site.notes()->facts)->slot;
    }
  }
  return nullptr;
}

class Load {
 public:
  void call(int key) {
    Desk desk;
    std::int64_t last = 0;
    while (!stop) {
      for (const std::int64_t seen : {desk.first(key), desk.second(key)}) {
        if (seen < last || seen > written) ++wrong;
        last = seen;
      }
      ++calls;
    }
  }

  /// Checks that the three settings of one policy are of the same version.
  void look() {
    const detail::PolicySlot* const slot = slot_of("Desk::never_called");
    while (!stop) {
      const detail::SitePolicy* const policy = detail::policy_at(*slot);
      const Policy& words = policy->over;
      const bool whole = words.wait && words.lease && words.hold_for &&
                         words.wait->length() == *words.hold_for &&
                         words.lease->length(0ms) == *words.hold_for;
      if (!whole) ++wrong;
      ++reads;
    }
  }

  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> written{0};
  std::atomic<std::uint64_t> wrong{0};
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> reads{0};
};

TEST(ReloadSoak, PolicyReloadsAreAtomicAndLoseNoUpdate) {
  const tests::PolicyText file(version_text(0));
  install_from(file.path());
  Load load;
  std::vector<std::thread> threads;
  for (int key = 0; key < 3; ++key) threads.emplace_back([&load, key] { load.call(key); });
  threads.emplace_back([&load] { load.look(); });
  // This thread reloads concurrently. The newest text must be in effect once the main thread has
  // reloaded, whichever thread read it.
  threads.emplace_back([&load] {
    while (!load.stop) {
      reload_policies();
      std::this_thread::yield();
    }
  });

  constexpr std::int64_t least = 10'000;
  const auto length = length_of_soak();
  const auto end = std::chrono::steady_clock::now() + length;
  std::int64_t version = 0;
  Desk desk;
  while (std::chrono::steady_clock::now() < end) {
    load.written = ++version;
    file.write(version_text(version));
    reload_policies();
    EXPECT_EQ(desk.first(100), version);
    EXPECT_EQ(desk.second(100), version);
  }
  load.stop = true;
  for (std::thread& thread : threads) thread.join();
  std::printf("%lld reloads, %llu calls, %llu reads\n", static_cast<long long>(version),
              static_cast<unsigned long long>(load.calls),
              static_cast<unsigned long long>(load.reads));
  EXPECT_EQ(load.wrong, 0U);
  EXPECT_GT(load.calls, 0U);
  EXPECT_GT(load.reads, 0U);
  EXPECT_GT(version, 10);
  if (length >= 60s) {
    EXPECT_GE(version, least);
  }
}

}  // namespace
}  // namespace latchkey::soak

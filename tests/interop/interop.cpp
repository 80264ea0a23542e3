// InteropTest: starts requests on both sides and measures wake-ups.
#include "interop/interop.hpp"

#include <algorithm>
#include <cstdio>
#include <thread>

namespace latchkey::tests {

using namespace std::chrono_literals;

std::string name_of(DeploymentKind kind) {
  switch (kind) {
    case DeploymentKind::server: return "";
    case DeploymentKind::cluster_auto: return "AUTO";
    case DeploymentKind::cluster_on: return "ON";
    case DeploymentKind::cluster_off: return "OFF";
  }
  return "";
}

std::future<std::string> InteropTest::start_java(const std::string& actor, const std::string& verb,
                                                 LockType type, const std::string& key,
                                                 const std::string& numbers) {
  return deployment_.java().start(actor, verb + ' ' + java_word(type) + ' ' + key + ' ' + numbers);
}

std::string InteropTest::java(const std::string& actor, const std::string& verb, LockType type,
                              const std::string& key, const std::string& numbers) {
  return deployment_.java().send(actor, verb + ' ' + java_word(type) + ' ' + key + ' ' + numbers);
}

std::future<InteropTest::Time> InteropTest::start_cpp(const std::string& key, LockType type) const {
  return std::async(std::launch::async, [locks = deployment_.connect(), key, type] {
    const Hold hold = locks.lock(key, type).acquire(20s, 30s);
    return std::chrono::steady_clock::now();
  });
}

std::string InteropTest::name() {
  std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

void InteropTest::await_listeners(const std::string& key, LockType type, std::size_t count) const {
  EXPECT_TRUE(eventually([&] { return deployment_.listeners(key, type).all() == count; })) << key;
  // sleeps: the attempt after the subscription is answered, too
  if (count > 0) std::this_thread::sleep_for(20ms);
}

void InteropTest::expect_woken(std::string_view who, std::vector<Duration> times) const {
  std::sort(times.begin(), times.end());
  const Duration median = times[times.size() / 2], most_of_them = times[times.size() * 99 / 100];
  const auto ms = [](Duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
  };
  std::printf("    %s: wake-up of %.*s: median %.1f ms, 99th percentile %.1f ms\n", name().c_str(),
              static_cast<int>(who.size()), who.data(), ms(median), ms(most_of_them));
  EXPECT_LT(times.back(), 1s + stalls_.total()) << who;
  EXPECT_LT(median, 500ms + stalls_.total())
      << who << ": without a notification it tries again after 0.8 s";
}

}  // namespace latchkey::tests

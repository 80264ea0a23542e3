// Fixtures of the tests that run C++ and Java on the same servers.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <future>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <latchkey/locks.hpp>

#include "interop/deployment.hpp"
#include "support/recorder.hpp"
#include "support/stalls.hpp"

namespace latchkey::tests {

/// Two types of lock that exclude each other on one key.
struct Kind {
  const char* name;
  LockType held, wanted;
};
inline constexpr std::array kinds{
    Kind{"plain", LockType::REENTRANT, LockType::REENTRANT},
    Kind{"fair", LockType::FAIR, LockType::FAIR},
    Kind{"write", LockType::WRITE, LockType::WRITE},
    Kind{"read_before_write", LockType::READ, LockType::WRITE},
    Kind{"write_before_read", LockType::WRITE, LockType::READ},
    Kind{"fenced", LockType::FENCED, LockType::FENCED},
};

class InteropTest : public ::testing::Test {
 protected:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;

  explicit InteropTest(DeploymentKind kind)
      : deployment_(Deployment::of(kind)), locks_(deployment_.connect()) {}

  /// Sends "VERB TYPE KEY [NUMBER...]" to Java and returns its answer, or the future of it.
  std::string java(const std::string& actor, const std::string& verb, LockType type,
                   const std::string& key, const std::string& numbers = "");
  std::future<std::string> start_java(const std::string& actor, const std::string& verb,
                                      LockType type, const std::string& key,
                                      const std::string& numbers = "");

  /// Acquires a lock in a thread with its own connection, so that only Redis can wake it, and
  /// releases it at once. Returns when the lock was granted.
  [[nodiscard]] std::future<Time> start_cpp(const std::string& key, LockType type) const;

  /// The test's name, as a part of a key.
  [[nodiscard]] static std::string name();
  [[nodiscard]] std::vector<std::string> keys() const { return deployment_.keys(name()); }

  /// Waits until `count` connections are subscribed and have tried once more.
  void await_listeners(const std::string& key, LockType type, std::size_t count) const;

  /// Prints the median and expects that a notification woke the waiter: it neither slept until the
  /// lease of 30 s ended nor polled.
  void expect_woken(std::string_view who, std::vector<Duration> times) const;

  const Stalls stalls_;
  Deployment& deployment_;
  Locks locks_;
};

/// Runs on one deployment.
class Interop : public InteropTest, public ::testing::WithParamInterface<DeploymentKind> {
 protected:
  Interop() : InteropTest(GetParam()) {}
};

/// Runs on one deployment with one pair of lock types.
class Exclusive : public InteropTest,
                  public ::testing::WithParamInterface<std::tuple<DeploymentKind, Kind>> {
 protected:
  Exclusive() : InteropTest(std::get<DeploymentKind>(GetParam())) {}

  [[nodiscard]] Lock held(const std::string& key) const { return locks_.lock(key, held_); }
  [[nodiscard]] Lock wanted(const std::string& key) const { return locks_.lock(key, wanted_); }

  const LockType held_ = std::get<Kind>(GetParam()).held;
  const LockType wanted_ = std::get<Kind>(GetParam()).wanted;
};

/// The mode in the names of tests: "", "AUTO", "ON" or "OFF".
std::string name_of(DeploymentKind kind);

}  // namespace latchkey::tests

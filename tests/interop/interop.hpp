// What tests of both sides share: C++ and Java at one place, and who waits there for whom.
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

#include "interop/place.hpp"
#include "support/recorder.hpp"

namespace latchkey::tests {

/// Two locks of one key that keep each other out.
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

  explicit InteropTest(Where where) : place_(Place::at(where)), locks_(place_.connect()) {}

  /// What Java answers to "VERB TYPE KEY [NUMBER...]", now or later.
  std::string java(const std::string& actor, const std::string& verb, LockType type,
                   const std::string& key, const std::string& numbers = "");
  std::future<std::string> java_begins(const std::string& actor, const std::string& verb,
                                       LockType type, const std::string& key,
                                       const std::string& numbers = "");

  /// Waits for a lock with Locks of its own, so that nobody but Redis tells of its release. When
  /// was it granted? It is given back at once.
  [[nodiscard]] std::future<Time> cpp_begins(const std::string& key, LockType type) const;

  /// This test's, fit for a key.
  [[nodiscard]] static std::string name();
  [[nodiscard]] std::vector<std::string> keys() const { return place_.keys(name()); }

  /// Until so many connections listen for a release, and have asked once more.
  void await_listeners(const std::string& key, LockType type, std::size_t count) const;

  /// Prints the median, and checks: neither slept for a 30 s lease, nor does C++ ask by itself.
  static void expect_woken(std::string_view who, std::vector<Duration> times);

  Place& place_;
  Locks locks_;
};

/// At one place.
class Interop : public InteropTest, public ::testing::WithParamInterface<Where> {
 protected:
  Interop() : InteropTest(GetParam()) {}
};

/// At one place, with one kind of locks.
class Exclusive : public InteropTest,
                  public ::testing::WithParamInterface<std::tuple<Where, Kind>> {
 protected:
  Exclusive() : InteropTest(std::get<Where>(GetParam())) {}

  [[nodiscard]] Lock held(const std::string& key) const { return locks_.lock(key, held_); }
  [[nodiscard]] Lock wanted(const std::string& key) const { return locks_.lock(key, wanted_); }

  const LockType held_ = std::get<Kind>(GetParam()).held;
  const LockType wanted_ = std::get<Kind>(GetParam()).wanted;
};

/// In the names of tests: "", "AUTO", "ON", "OFF".
std::string word_of(Where where);

}  // namespace latchkey::tests

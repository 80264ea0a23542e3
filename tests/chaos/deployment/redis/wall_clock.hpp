// The wall clock of a server, which a test sets.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace latchkey::chaos {

/// An offset that a server adds to its wall clock, if it is started with `launcher()`. The server
/// reads it each time that it reads the clock.
class WallClock {
 public:
  WallClock();
  WallClock(const WallClock&) = delete;
  WallClock& operator=(const WallClock&) = delete;
  ~WallClock();

  void jump(std::int64_t seconds) noexcept;
  /// The words before the name of the program (RedisServerOptions::launcher).
  [[nodiscard]] std::vector<std::string> launcher() const;

 private:
  std::string file_;
  std::int64_t* offset_ = nullptr;
};

}  // namespace latchkey::chaos

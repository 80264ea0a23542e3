// The settings of `latchkey run`.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <latchkey/lease.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/wait.hpp>

#include "cli/connection.hpp"
#include "cli/exit_code.hpp"
#include "cli/run/once_plan.hpp"

namespace latchkey::inline v1::cli {

struct RunOptions {
  enum class OnLost : unsigned char {
    TERM,    ///< the child gets SIGTERM, and is killed before the lock's deadline
    REPORT,  ///< the child runs on; a line on stderr reports that it is unprotected
  };

  ConnectionOptions connection{};
  std::vector<std::string> keys{};
  LockType type = LockType::REENTRANT;
  std::optional<std::uint32_t> permits{};  ///< the key is a semaphore of so many permits
  Wait wait = forever;
  Lease lease = watchdog;
  std::chrono::milliseconds watchdog_period = std::chrono::seconds(30);
  std::chrono::milliseconds hold_for{};
  std::chrono::milliseconds kill_after = std::chrono::seconds(5);
  OnLost on_lost = OnLost::TERM;
  int conflict_exit_code = exit_code::busy;
  bool quiet = false;
  std::optional<OncePlan> once{};  ///< the key is that of an instant
  std::vector<std::string> command{};
};

}  // namespace latchkey::inline v1::cli

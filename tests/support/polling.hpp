// Waiting for state changes that servers do not announce.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace latchkey::tests {

/// Another server became the master.
struct Election {
  std::size_t index;                           ///< the new master's index
  std::chrono::steady_clock::time_point seen;  ///< when a server or sentinel first reported it
};

/// Calls `missing` every 5 ms until it returns "": nothing is missing any more. If it throws a
/// std::runtime_error, the text of the error counts as what is missing. After 30 s throws a
/// std::runtime_error that contains what is missing.
template <class Missing>
void await(const std::string& what, Missing&& missing) {
  constexpr std::chrono::seconds limit{30};
  constexpr int pause_ms = 5;
  const auto end = std::chrono::steady_clock::now() + limit;
  for (;;) {
    std::string answer;
    try {
      answer = missing();
    } catch (const std::runtime_error& failure) {
      answer = failure.what();
    }
    if (answer.empty()) return;
    if (std::chrono::steady_clock::now() >= end) {
      throw std::runtime_error("timed out waiting for " + what + ": " + answer);
    }
    ::poll(nullptr, 0, pause_ms);
  }
}

}  // namespace latchkey::tests

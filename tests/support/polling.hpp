// Waiting for what servers do in their own time and tell nobody.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace latchkey::tests {

/// Another server became the master.
struct Election {
  std::size_t index;                           ///< of the new one
  std::chrono::steady_clock::time_point seen;  ///< when a living server or sentinel first said so
};

/// Asks `missing` every few milliseconds until it says "". A server that cannot be asked is what is
/// missing, too. Throws std::runtime_error with the last answer where that takes 30 s.
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
      throw std::runtime_error("waited in vain for " + what + ": " + answer);
    }
    ::poll(nullptr, 0, pause_ms);
  }
}

}  // namespace latchkey::tests

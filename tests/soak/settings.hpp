// Reads the settings of the soak tests from the environment: LATCHKEY_SOAK is the length ("500ms",
// "5s", "2min"), and LATCHKEY_SEED seeds the random order of visits.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace latchkey::soak {

inline std::chrono::milliseconds length_of_soak() {
  const char* const text = std::getenv("LATCHKEY_SOAK");
  if (text == nullptr) return std::chrono::seconds(5);
  char* unit = nullptr;
  const long number = std::strtol(text, &unit, 10);
  const std::string word(unit);
  if (number > 0 && word == "ms") return std::chrono::milliseconds(number);
  if (number > 0 && word == "s") return std::chrono::seconds(number);
  if (number > 0 && word == "min") return std::chrono::minutes(number);
  throw std::invalid_argument("LATCHKEY_SOAK is a time such as 500ms, 5s or 2min, not '" +
                              std::string(text) + "'");
}

inline std::uint64_t seed_of_soak() {
  const char* const text = std::getenv("LATCHKEY_SEED");
  const std::uint64_t chosen = text != nullptr ? std::strtoull(text, nullptr, 10) : 20'250'101;
  std::printf("LATCHKEY_SEED=%llu\n", static_cast<unsigned long long>(chosen));
  return chosen;
}

}  // namespace latchkey::soak

// How long a soak runs: LATCHKEY_SOAK says it ("500ms", "5s", "60s", "2min").
#pragma once

#include <chrono>
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

}  // namespace latchkey::soak

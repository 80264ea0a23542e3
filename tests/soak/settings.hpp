// Reads the settings of the soak tests from the environment: LATCHKEY_SOAK is the length ("500ms",
// "5s", "2min"), and LATCHKEY_SEED seeds the random order of visits.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <variant>

#include "core/text/duration.hpp"

namespace latchkey::soak {

inline std::chrono::milliseconds length_of_soak() {
  const char* const text = std::getenv("LATCHKEY_SOAK");
  if (text == nullptr) return std::chrono::seconds(5);
  const detail::Duration parsed = detail::parse_duration(text);
  const auto* const length = std::get_if<std::chrono::milliseconds>(&parsed);
  if (length == nullptr) throw std::invalid_argument("LATCHKEY_SOAK: " + std::get<1>(parsed));
  if (*length > length->zero()) return *length;
  throw std::invalid_argument("LATCHKEY_SOAK: expected more than no time");
}

inline std::uint64_t seed_of_soak() {
  const char* const text = std::getenv("LATCHKEY_SEED");
  const std::uint64_t chosen = text != nullptr ? std::strtoull(text, nullptr, 10) : 20'250'101;
  std::printf("LATCHKEY_SEED=%llu\n", static_cast<unsigned long long>(chosen));
  return chosen;
}

}  // namespace latchkey::soak

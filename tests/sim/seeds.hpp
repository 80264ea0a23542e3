// Which seeds a test runs.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace latchkey::inline v1::sim {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::uint64_t usual_seeds = 500;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr std::uint64_t usual_seeds = 500;
#else
inline constexpr std::uint64_t usual_seeds = 10'000;
#endif
#else
inline constexpr std::uint64_t usual_seeds = 10'000;
#endif

/// The number of seeds: LATCHKEY_SIM_SEEDS, or as many as a CI run has time for.
inline std::uint64_t seeds() {
  const char* const text = std::getenv("LATCHKEY_SIM_SEEDS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : usual_seeds;
}

/// The first seed: LATCHKEY_SIM_FIRST, so that a nightly run can continue after the previous one.
inline std::uint64_t first_seed() {
  const char* const text = std::getenv("LATCHKEY_SIM_FIRST");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
}

}  // namespace latchkey::inline v1::sim

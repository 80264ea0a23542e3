// How many seeds a test runs, and from which on.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace latchkey::sim {

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

/// LATCHKEY_SIM_SEEDS, or what a run in CI can afford.
inline std::uint64_t seeds() {
  const char* const text = std::getenv("LATCHKEY_SIM_SEEDS");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : usual_seeds;
}

/// LATCHKEY_SIM_FIRST: where to begin; a nightly run goes on where the last one ended.
inline std::uint64_t first_seed() {
  const char* const text = std::getenv("LATCHKEY_SIM_FIRST");
  return text != nullptr ? std::strtoull(text, nullptr, 10) : 1;
}

}  // namespace latchkey::sim

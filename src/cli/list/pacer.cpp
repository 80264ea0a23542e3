// Limits how much work per second a command gives to a server.
// SPDX-License-Identifier: BSL-1.0
#include "cli/list/pacer.hpp"

#include <algorithm>

namespace latchkey::inline v1::cli {
namespace {

using Seconds = std::chrono::duration<double>;

}  // namespace

Pacer::Pacer(std::uint64_t rate, std::chrono::milliseconds burst, TimePoint now)
    : rate_(static_cast<double>(rate)), units_(rate_ * Seconds(burst).count()), at_(now) {}

std::uint64_t Pacer::available(TimePoint now) {
  const double earned = rate_ * Seconds(now - at_).count();
  units_ = std::max(units_, std::min(units_ + earned, rate_));
  at_ = now;
  return static_cast<std::uint64_t>(std::max(units_, 0.0));
}

Pacer::TimePoint Pacer::due() const {
  if (units_ >= 1) return at_;
  return at_ + std::chrono::ceil<std::chrono::milliseconds>(Seconds((1 - units_) / rate_));
}

}  // namespace latchkey::inline v1::cli

// Adds durations to the buckets and computes quantiles.
#include "histogram.hpp"

#include <algorithm>

namespace demo {

void Histogram::add(Duration time) {
  const auto bucket = std::upper_bound(bounds.begin(), bounds.end(), time) - bounds.begin();
  ++buckets_[static_cast<std::size_t>(bucket)];
  ++count_;
  sum_ += time;
  longest_ = std::max(longest_, time);
}

Histogram::Duration Histogram::within(double share) const {
  const double wanted = share * static_cast<double>(count_);
  std::uint64_t seen = 0;
  for (std::size_t bucket = 0; bucket < bounds.size(); ++bucket) {
    seen += buckets_[bucket];
    if (static_cast<double>(seen) >= wanted) return std::min(bounds[bucket], longest_);
  }
  return longest_;
}

}  // namespace demo

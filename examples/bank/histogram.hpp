// A histogram of durations, with bucket bounds that grow as 1, 2, 5, 10.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace demo {

class Histogram {
 public:
  using Duration = std::chrono::nanoseconds;

  /// The first bucket is for times that nobody notices; the last one has no upper bound.
  static constexpr std::array bounds = [] {
    std::array<Duration, 19> made{};
    Duration decade = std::chrono::microseconds(10);
    for (std::size_t i = 0; i < made.size(); ++i) {
      made[i] = decade * (i % 3 == 0 ? 1 : i % 3 == 1 ? 2 : 5);
      if (i % 3 == 2) decade *= 10;
    }
    return made;
  }();

  void add(Duration time);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t in_bucket(std::size_t bucket) const { return buckets_[bucket]; }
  [[nodiscard]] std::uint64_t noticed() const { return count_ - buckets_.front(); }
  [[nodiscard]] Duration sum() const { return sum_; }
  [[nodiscard]] Duration longest() const { return longest_; }
  /// The upper bound of the bucket that contains the `share` quantile.
  [[nodiscard]] Duration within(double share) const;

 private:
  std::array<std::uint64_t, bounds.size() + 1> buckets_{};
  std::uint64_t count_ = 0;
  Duration sum_{};
  Duration longest_{};
};

}  // namespace demo

// A histogram of durations that several processes can add up.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace latchkey::bench {

/// Counts nanoseconds in buckets of 1/32 of a power of two, so that each is known within 3 %. The
/// workers in Java and Go number their buckets in the same way.
class Histogram {
 public:
  static constexpr std::size_t size = 60 * 32;

  static std::size_t bucket_of(std::uint64_t nanoseconds) {
    if (nanoseconds < 32) return nanoseconds;
    const auto exponent = static_cast<std::size_t>(std::bit_width(nanoseconds)) - 1;
    return (exponent - 4) * 32 + ((nanoseconds >> (exponent - 5)) & 31);
  }
  /// The middle of the bucket.
  static double value_of(std::size_t bucket) {
    if (bucket < 32) return static_cast<double>(bucket);
    const auto width = static_cast<double>(std::uint64_t{1} << (bucket / 32 - 1));
    return (static_cast<double>(32 + bucket % 32) + 0.5) * width;
  }

  void add(std::uint64_t nanoseconds) { add_to(bucket_of(nanoseconds), 1); }
  void add_to(std::size_t bucket, std::uint64_t count) {
    counts_.at(bucket) += count;
    total_ += count;
  }
  Histogram& operator+=(const Histogram& other) {
    for (std::size_t bucket = 0; bucket < size; ++bucket) add_to(bucket, other.counts_[bucket]);
    return *this;
  }

  [[nodiscard]] std::uint64_t count(std::size_t bucket) const { return counts_[bucket]; }
  [[nodiscard]] std::uint64_t total() const { return total_; }

  /// In nanoseconds; `part` is 0.5 for the median. 0 if nothing was added.
  [[nodiscard]] double quantile(double part) const {
    const double rank = part * static_cast<double>(total_);
    std::uint64_t below = 0;
    for (std::size_t bucket = 0; bucket < size; ++bucket) {
      below += counts_[bucket];
      if (below > 0 && static_cast<double>(below) >= rank) return value_of(bucket);
    }
    return 0;
  }

 private:
  std::array<std::uint64_t, size> counts_{};
  std::uint64_t total_ = 0;
};

}  // namespace latchkey::bench

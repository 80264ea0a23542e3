// A scan of the keyspace: its options, its budget, and the line that shows its progress.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/locks.hpp>

namespace CLI {
class App;
}

namespace latchkey::inline v1::cli {

/// Scans the keyspace once. The caller decides when it asks for the next page.
class Scan {
 public:
  /// Stops after `most` keys of the backend.
  Scan(Locks locks, std::string pattern, std::uint64_t most);

  /// The locks of the next page, which examines at most `keys` keys. A lock may occur twice.
  /// Throws BackendUnavailable, BackendRefused; the scan can be continued then.
  [[nodiscard]] std::vector<std::string> next(std::uint64_t keys);

  [[nodiscard]] bool complete() const noexcept { return complete_; }  ///< all keys were examined
  [[nodiscard]] bool ended() const noexcept { return complete_ || examined_ >= most_; }
  [[nodiscard]] std::uint64_t examined() const noexcept { return examined_; }
  /// About how many keys there are; 0: not known.
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
  /// "scanned 40% of about 100000 keys".
  [[nodiscard]] std::string progress() const;

  /// The most keys of one page: a server is busy with it for less than a millisecond.
  static constexpr std::uint64_t page_size = 256;

 private:
  Locks locks_;
  std::string pattern_;
  std::uint64_t most_;
  ListCursor cursor_{};
  std::uint64_t examined_ = 0;
  std::uint64_t total_ = 0;
  bool complete_ = false;
};

/// A budget that grows with time: `rate` units per second, at most one second's worth saved up.
/// Costs may overdraw it; the debt delays what comes next. Not thread-safe.
class Pacer {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  /// Begins with the budget of `burst`.
  Pacer(std::uint64_t rate, std::chrono::milliseconds burst, TimePoint now);

  /// How much may be spent now; at least 0.
  [[nodiscard]] std::uint64_t available(TimePoint now);
  void spend(std::uint64_t units) { units_ -= static_cast<double>(units); }
  /// When something may be spent again.
  [[nodiscard]] TimePoint due() const;

 private:
  double rate_;
  double units_;
  TimePoint at_;
};

/// Shows one line at a time and removes it at the end.
class ProgressLine {
 public:
  ProgressLine() noexcept;
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  void show(std::string_view text);
  /// Removes the line. Call it before anything else is printed.
  void clear() noexcept;

 private:
  bool at_terminal_;
  bool shown_ = false;
};

/// How fast and how far the user lets a command scan.
struct ScanWords {
  std::uint64_t rate;   ///< keys per second
  std::uint64_t limit;  ///< keys after which a scan stops
  bool all = false;     ///< no limit

  [[nodiscard]] std::uint64_t most() const noexcept { return all ? UINT64_MAX : limit; }
};

/// Adds --rate, --limit and --all, with the values of `words` as their defaults. `words` must
/// outlive the command.
void add_scan_words(CLI::App& command, ScanWords& words);

}  // namespace latchkey::inline v1::cli

// One scan of a backend's keys for locks, page by page, within a limit.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <latchkey/locks.hpp>

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

}  // namespace latchkey::inline v1::cli

// Threads of C++ and Java processes that contend for one key, and count what each is granted.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include <latchkey/locks.hpp>

namespace latchkey::tests {

/// The words that all contenders share: a file that each process maps. A contender holds the lock
/// while it changes `updates` by a load and a store, so updates are lost without the lock. The
/// class Contest in RedissonPeer.java reads the same words by their numbers.
class Contest {
 public:
  enum Phase : std::uint64_t { warm_up, measured, over };
  using Word = std::atomic<std::uint64_t>;

  /// Written by one thread.
  struct Contender {
    Word warm_grants, grants, longest_wait_ns;  ///< the latter two while the phase is `measured`
  };
  struct Words {
    Word phase, updates, occupant, overlaps, last_token, stale_tokens;
    std::array<Contender, 8> contenders;
  };

  /// Creates a temporary file, with all words zero.
  Contest();
  Contest(const Contest&) = delete;
  Contest& operator=(const Contest&) = delete;
  ~Contest();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  Words* operator->() const noexcept { return words_; }

  /// Takes and gives back the key, `inside` each time, until the phase is `over`. Empty, or what
  /// went wrong.
  [[nodiscard]] std::string contend(Lock lock, std::size_t number,
                                    std::chrono::microseconds inside) const;

 private:
  void visit(std::uint64_t id, std::uint64_t token, std::chrono::microseconds inside) const;

  std::string path_ = std::filesystem::temp_directory_path() / "latchkey-contest-XXXXXX";
  Words* words_;
};

}  // namespace latchkey::tests

// The memory that the orchestrator shares with its workers. A worker that is killed or stopped at
// any instruction leaves it readable.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "chaos/history.hpp"

namespace latchkey::chaos {

inline constexpr std::uint32_t most_workers = 8, most_threads = 8, key_count = 9;
/// How many threads of a worker ask for key 0 and no other.
inline constexpr std::uint32_t hot_threads = 2;
/// How many of the keys a client without lock types visits.
inline constexpr std::uint32_t plain_keys = 2;

enum class Phase : std::uint32_t {
  rest,  ///< no thread calls
  run,
  over,  ///< workers end
};

/// The visits of one thread in this round. The thread appends; the orchestrator reads and clears
/// while the thread rests or its process is dead.
struct VisitLog {
  static constexpr std::uint32_t capacity = 40'000;
  std::atomic<std::uint32_t> used{0};
  std::atomic<std::uint32_t> rests_since{0};  ///< the last round that it has seen to end
  std::array<Visit, capacity> visits;
};

/// The data that the lock of one key protects.
struct GuardedData {
  std::atomic<std::uint64_t> counter{0};
  std::atomic<std::uint64_t> fenced{0};  ///< the highest token, and a number: see FencedWord
};

/// The tool that a thread of a worker has started, for faults that are done to it.
struct ToolState {
  std::atomic<int> process{0};  ///< its id; 0: none runs
  std::atomic<bool> holds{false};
};

struct WorkerState {
  std::atomic<bool> ready{false};
  std::atomic<bool> fork_wanted{false};
  std::atomic<Wish> wish{Wish::nothing};         ///< of the next visit that can be so
  std::atomic<Lack> lack_wanted{Lack::nothing};  ///< threads: of the next visit; memory: of all
  std::array<ToolState, most_threads> tools;
  std::array<VisitLog, most_threads> threads;
};

struct SharedState {
  std::atomic<Phase> phase{Phase::rest};
  std::atomic<std::uint32_t> round{0};  ///< how many rounds have ended
  std::atomic<Nanos> round_began{0};
  std::uint64_t first_token = 0;          ///< tokens of this run are larger
  std::atomic<bool> loses_tokens{false};  ///< the server loses its data in this round
  std::array<GuardedData, key_count> keys;
  std::array<WorkerState, most_workers> workers;
};

/// A token and a number in one word, so that a write compares and changes both at once: 40 bits of
/// microseconds since the run began, 24 bits of the number.
class FencedWord {
 public:
  FencedWord(std::atomic<std::uint64_t>& word, std::uint64_t token) : word_(word), token_(token) {}

  /// Raises the highest token. Empty if a higher one was there.
  bool read(std::uint64_t& value) {
    std::uint64_t seen = word_;
    while (seen >> bits <= token_) {
      value = seen & mask;
      if (word_.compare_exchange_weak(seen, token_ << bits | value)) return true;
    }
    return false;
  }
  bool write(std::uint64_t value, std::uint64_t next) {
    std::uint64_t seen = token_ << bits | value;
    return word_.compare_exchange_strong(seen, token_ << bits | (next & mask));
  }

 private:
  static constexpr int bits = 24;
  static constexpr std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  std::atomic<std::uint64_t>& word_;
  std::uint64_t token_;
};

}  // namespace latchkey::chaos

// The other processes that use a segment, and whether they live.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/file_descriptor.hpp"
#include "host/segment/segment_format.hpp"

namespace latchkey::inline v1::detail::host {

/// The two FIFOs of a process, beside the segment. A process is alive as long as it has `life` open
/// for reading: opening it for writing then fails with ENXIO, and a poll of a writer ends with an
/// error. That holds across pid namespaces, after a pid was used again, and after an exec; no
/// process inherits it (`forget_parent`). A byte in `wake` wakes it: those who write have it open
/// for reading, too, so a dead process is no SIGPIPE.
struct FifoPaths {
  /// `name`: that of the slot.
  FifoPaths(const std::string& segment, std::uint64_t name);
  /// Removes both.
  void remove() const noexcept;

  std::string life, wake;
};

/// The FIFOs of this process.
struct OwnFifos {
  FileDescriptor life, wake;

  /// Makes them: the process is alive from now on. `mode` and `group` are those of the segment.
  /// Throws Unusable.
  static OwnFifos make(const FifoPaths& paths, mode_t mode, gid_t group);
  /// Takes the bytes out of `wake`.
  void clear() const noexcept;
};

/// The processes in the slots of a segment. One thread at a time.
class Peers {
 public:
  explicit Peers(const std::string& segment) : segment_(segment), all_(slot_count) {}

  /// Whether the process that has taken the slot is dead. False also if nobody can tell: its FIFO
  /// was removed, or may not be opened.
  [[nodiscard]] bool is_dead(std::size_t slot, std::uint64_t name);
  void wake(std::size_t slot, std::uint64_t name) noexcept;
  /// For poll(2): an error comes when the process dies. -1: it cannot be opened.
  [[nodiscard]] int life(std::size_t slot, std::uint64_t name) {
    return open(slot, name).life.get();
  }

  /// The process that was asked for last, and its descriptor; 0 and -1: none.
  [[nodiscard]] std::uint64_t known_name(std::size_t slot) const noexcept {
    return all_[slot].name;
  }
  [[nodiscard]] int known_life(std::size_t slot) const noexcept { return all_[slot].life.get(); }
  void forget(std::size_t slot) noexcept { all_[slot] = {}; }

 private:
  struct Peer {
    std::uint64_t name = 0;
    FileDescriptor life, wake;
    bool is_dead = false;  ///< nobody had its FIFO open for reading
  };
  Peer& open(std::size_t slot, std::uint64_t name);

  const std::string& segment_;
  std::vector<Peer> all_;
};

}  // namespace latchkey::inline v1::detail::host

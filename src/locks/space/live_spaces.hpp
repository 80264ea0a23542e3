// The spaces that exist, and the locks that a thread which ends leaves behind.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/owner.hpp>

namespace latchkey::inline v1 {
class Listener;
}

namespace latchkey::inline v1::detail {

class LockSpace;

/// The spaces that exist, by their number. At the exit of the process the listeners of those that
/// are left, such as installed ones, receive what is queued for them. Thread-safe.
class LiveSpaces {
 public:
  static void add(LockSpace& space);
  static void remove(LockSpace& space) noexcept;

  /// The destructor of a listener: no space calls it any more.
  static void stop_calling(const Listener& listener) noexcept;
};

/// Counts, for each space, what the calling thread has acquired by lock() and not yet unlocked. If
/// the thread ends before it has unlocked everything, the spaces are notified
/// (LockSpace::owner_ended).
class ThreadLocks {
 public:
  static void taken(const LockSpace& space);
  static void given_back(const LockSpace& space) noexcept;
};

}  // namespace latchkey::inline v1::detail

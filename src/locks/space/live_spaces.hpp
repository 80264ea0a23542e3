// Which spaces exist, for threads that end.
#pragma once

#include <cstdint>

#include <latchkey/owner.hpp>

namespace latchkey::detail {

class LockSpace;

/// The spaces that exist now, by their number. Thread-safe.
class LiveSpaces {
 public:
  static void add(LockSpace& space);
  static void remove(LockSpace& space) noexcept;
};

/// What the calling thread took by lock() and has not given back, counted per space, so that the
/// spaces can be told when the thread ends before it did.
class ThreadLocks {
 public:
  static void taken(const LockSpace& space);
  static void given_back(const LockSpace& space) noexcept;
};

}  // namespace latchkey::detail

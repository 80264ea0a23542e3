// Locking of mutexes around a fork, level by level.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

namespace latchkey::inline v1::detail {

/// An object whose mutexes a fork must lock first, so that the child gets a consistent copy of the
/// data that they guard.
///
/// `prepare` locks its mutexes; `parent` and `child` unlock them in the two processes. `child` also
/// drops what belongs to the parent; no other thread exists then.
class ForkParticipant {
 public:
  virtual void prepare() noexcept = 0;
  virtual void parent() noexcept = 0;
  virtual void child() noexcept = 0;

 protected:
  ~ForkParticipant() = default;
};

/// Mutexes are locked from the highest level to the lowest and unlocked in reverse order. Within a
/// level they are locked in the order of registration.
enum class ForkLevel : std::uint8_t { core = 0, backend = 3, locks = 4 };

/// Calls `participant` at every fork from now on. Throws std::bad_alloc. Thread-safe. The caller
/// must not hold a mutex that any participant's prepare locks: the registry's own mutex is held
/// during a fork.
void register_fork_participant(ForkLevel level, ForkParticipant& participant);

/// Ends the registration: once this has returned, no fork uses the participant. Does nothing for a
/// participant that is not registered. The rule about mutexes is the same.
void unregister_fork_participant(ForkParticipant& participant) noexcept;

}  // namespace latchkey::inline v1::detail

// What must be held still while the process forks, level by level.
#pragma once

#include <cstdint>

namespace latchkey::detail {

/// Somebody with mutexes that a fork must not catch in the middle of something.
///
/// `prepare` locks them, `parent` and `child` unlock them on the two sides. `child` also forgets
/// what belongs to the parent; no other thread is alive then.
class ForkParticipant {
 public:
  virtual void prepare() noexcept = 0;
  virtual void parent() noexcept = 0;
  virtual void child() noexcept = 0;

 protected:
  ~ForkParticipant() = default;
};

/// Calls go down the levels, so mutexes are locked from the highest level to the lowest, and
/// unlocked the other way round. Within a level: in the order of registration.
enum class ForkLevel : std::uint8_t { core = 0, backend = 3, locks = 4 };

/// From now on `participant` takes part in every fork. Throws std::bad_alloc. Thread-safe, and not
/// to be called with a mutex held that some participant's prepare locks: the registry's own mutex
/// is held during a fork.
void register_fork_participant(ForkLevel level, ForkParticipant& participant);

/// No more of it: once this has returned no fork uses the participant. Nothing for one that was
/// not registered. The same rule about mutexes.
void unregister_fork_participant(ForkParticipant& participant) noexcept;

}  // namespace latchkey::detail

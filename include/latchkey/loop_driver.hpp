// LoopDriver: drives a backend from an event loop.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// One event loop that waits for one backend: the reactor of POSA2, seen by the loop. It must not
/// block, so it does not call Backend::drive; it waits for one descriptor, together with everything
/// else that it waits for.
///
/// | state  | reached by | what the loop does                                         |
/// |--------|------------|------------------------------------------------------------|
/// | away   | leave      | nothing; others must drive the backend                     |
/// | joined | join       | waits until the descriptor is readable, then calls drive   |
///
/// A joined loop shares the work with the threads inside Backend::drive: a thread that blocks there
/// takes over, and the loop goes on when no thread is left. What a loop that is busy should
/// have read is read by a blocked thread after a few milliseconds, if there is one.
///
/// For one loop, and one thread at a time. Must be destroyed before its backend.
class LoopDriver {
 public:
  LoopDriver() = default;
  LoopDriver(const LoopDriver&) = delete;
  LoopDriver& operator=(const LoopDriver&) = delete;
  virtual ~LoopDriver() = default;

  /// For poll(2) or epoll(7): readable if `drive` has something to do, also because it is due.
  /// The descriptor stays the same for as long as this lives.
  [[nodiscard]] virtual int descriptor() const noexcept = 0;

  /// The loop waits from now on: somebody waits for an outcome. Calls no sink. Joining again
  /// has no effect. Throws std::bad_alloc.
  virtual void join() = 0;

  /// Does what is to be done and calls the sinks. Does not block, unless the backend's attempts
  /// block (Backend::attempts_block). Throws std::bad_alloc. What the calling thread submits from
  /// now on may be held back until `flush`, as long as the backend has something else to do.
  virtual void drive() = 0;

  /// The next step of the loop.
  enum class Next : unsigned char {
    wait,   ///< for the descriptor
    drive,  ///< at once, behind what else it has to do: a reply is expected very soon
  };
  /// After each `drive`, on any thread: what the sinks scheduled has run. Sends what was submitted
  /// meanwhile, together. Calls no sink.
  virtual Next flush() noexcept { return Next::wait; }

  /// The loop no longer waits. Not during `drive`.
  virtual void leave() noexcept = 0;
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop

// A SharedState that processes share by an inherited descriptor.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <stdexcept>

#include "chaos/worker/shared_state.hpp"

namespace latchkey::chaos {

class SharedMemory {
 public:
  /// New memory, all zero. Programs that this process starts inherit the descriptor.
  SharedMemory() : SharedMemory(::memfd_create("latchkey chaos", 0), true) {}
  /// The memory of an inherited descriptor.
  explicit SharedMemory(int descriptor) : SharedMemory(descriptor, false) {}
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() {
    ::munmap(state_, sizeof(SharedState));
    ::close(descriptor_);
  }

  SharedState& operator*() const noexcept { return *state_; }
  SharedState* operator->() const noexcept { return state_; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  SharedMemory(int descriptor, bool fresh) : descriptor_(descriptor) {
    if (fresh && ::ftruncate(descriptor, sizeof(SharedState)) != 0) {
      throw std::runtime_error("no memory for the workers' records");
    }
    void* const mapping =
        ::mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (mapping == MAP_FAILED) throw std::bad_alloc();
    // The state of zero bytes is the initial state; constructing it would touch all of it.
    state_ = static_cast<SharedState*>(mapping);
  }

  int descriptor_;
  SharedState* state_;
};

}  // namespace latchkey::chaos

// Survives the loss of a mapped file's pages.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

namespace latchkey::inline v1::detail::host {

/// A process that touches a page of a mapped file which somebody has truncated gets SIGBUS. While a
/// guard lives, such a signal in its range ends nobody: memory of this process alone takes the
/// place of the whole range, and the thread goes on. Every other SIGBUS goes to the handler that
/// was installed before the first guard, which is the system's own unless the program had one. A
/// program that installs its own later has to call the one that it replaces.
///
/// Wayland's compositors protect themselves from their clients in this way.
class MappingGuard {
 public:
  /// Makes the memory say that it is lost. Called in a handler of a signal, for what is left of the
  /// file, which other processes see, and for what takes its place, which is all zeros.
  using Mark = void (*)(void* memory) noexcept;

  /// Guards nothing.
  MappingGuard() = default;
  /// From `address` on, which begins a mapping of `size` bytes that outlives the guard.
  MappingGuard(void* address, std::size_t size, Mark mark);
  MappingGuard(MappingGuard&& other) noexcept;
  MappingGuard& operator=(MappingGuard&& other) noexcept;
  ~MappingGuard();

  /// Whether memory has taken the place of the file.
  [[nodiscard]] bool has_lost_file() const noexcept;

 private:
  struct Range;
  struct Handler;

  Range* range_ = nullptr;
};

}  // namespace latchkey::inline v1::detail::host

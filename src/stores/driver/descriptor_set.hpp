// The descriptors of a store's client, as one descriptor.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/file_descriptor.hpp"

namespace latchkey::inline v1::detail::stores {

/// An epoll instance: readable if one of the descriptors in it is ready. Some client libraries use
/// several descriptors and change them; a waiting thread sees one that stays. Level-triggered. One
/// thread at a time, except that any thread may poll `descriptor`, or `polled`.
///
/// A thread that waits for one socket by way of epoll is woken later than one that polls the
/// socket: the kernel no longer knows that the sender is about to sleep, and looks for another
/// processor. So a thread polls the only descriptor itself, if somebody wakes it when `changes`
/// rises.
class DescriptorSet {
 public:
  /// The bits of poll(2).
  struct Ready {
    int descriptor = -1;
    short events = 0;
  };

  /// Throws std::bad_alloc if the system has no descriptor left.
  DescriptorSet();

  [[nodiscard]] int descriptor() const noexcept { return epoll_.get(); }
  /// The only descriptor with its events; the instance, if there are none or several.
  [[nodiscard]] Ready polled() const noexcept;
  /// How often what `polled` returns may have changed.
  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }

  /// From now on the set waits for these events of `descriptor`, and for no others; 0: for errors
  /// alone. `forget` a descriptor before it is closed: its number may become that of another file.
  /// Throws std::bad_alloc.
  void watch(int descriptor, short events);
  void forget(int descriptor) noexcept;
  /// The descriptors that are ready now, at most 16 of them.
  [[nodiscard]] std::vector<Ready> ready() const;
  /// The events for which this descriptor is ready; 0: none.
  [[nodiscard]] short ready(int descriptor) const;

  /// Keeps the events that poll(2) has returned for `polled`: until `forget_events`, and while
  /// nothing is changed, `ready` for the only descriptor returns them without a system call.
  void know_events(short events) noexcept;
  void forget_events() noexcept { known_.reset(); }

  /// In a forked child: the instance is the parent's, too, so a new one takes its place, with no
  /// descriptor in it.
  void renew();

 private:
  struct Watched {
    int descriptor;
    short events;
  };
  void changed() noexcept;

  FileDescriptor epoll_;
  std::vector<Watched> watched_;
  std::uint64_t changes_ = 0;
  std::optional<short> known_;  ///< the events of the only descriptor
};

}  // namespace latchkey::inline v1::detail::stores

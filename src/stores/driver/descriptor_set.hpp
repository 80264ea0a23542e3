// The descriptors of a store's client, as one descriptor.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/file_descriptor.hpp"

namespace latchkey::inline v1::detail::stores {

/// An epoll instance: readable if one of the descriptors in it is ready. Some client libraries use
/// several descriptors and change them; whoever waits sees one that stays. Level-triggered. One
/// thread at a time, except that any thread may poll `descriptor`.
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

  /// Waits for these events from now on, instead of others; 0: for errors alone. A closed
  /// descriptor has left the set; one with the same number may be another file: `forget` it before
  /// it is closed. Throws std::bad_alloc.
  void watch(int descriptor, short events);
  void forget(int descriptor) noexcept;
  /// The descriptors that are ready now.
  [[nodiscard]] std::vector<Ready> ready() const;
  /// The events of one of them; 0: none.
  [[nodiscard]] short ready(int descriptor) const;

  /// In a forked child: the instance is the parent's too, so another one takes its place, without
  /// a descriptor.
  void renew();

 private:
  struct Watched {
    int descriptor;
    short events;
  };
  FileDescriptor epoll_;
  std::vector<Watched> watched_;
};

}  // namespace latchkey::inline v1::detail::stores

// How a LOCKED treats its body.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// Decides by what a body returns: by default the body runs under the lock, and its result is that
/// of the call. latchkey/asio.hpp specialises it for coroutines of Asio.
template <class Returned>
struct BodyKind {
  static constexpr bool is_coroutine = false;
  /// The type that the body yields when its work is done.
  using Result = Returned;
  /// The type of `LOCKED(...) AROUND(...) { body }`.
  template <class Ready, class Body>
  using Answer = Returned;
};

template <class Returned>
using BodyResult = typename BodyKind<Returned>::Result;

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop

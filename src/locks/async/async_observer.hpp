// Who learns that an asynchronous operation has ended.
// SPDX-License-Identifier: BSL-1.0
#pragma once

namespace latchkey::inline v1::detail {

/// Is told that an asynchronous operation has ended.
class AsyncObserver {
 public:
  /// Called once, on whichever thread ended the operation, with no mutex held. It may destroy the
  /// operation.
  virtual void ended() noexcept = 0;

 protected:
  ~AsyncObserver() = default;
};

}  // namespace latchkey::inline v1::detail

// The pending operations of one space in one execution context.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <memory>

#include <latchkey/detail/asio/initiation.hpp>

#include "asio/loop_wait.hpp"
#include "asio/operation.hpp"
#include "core/small_mutex.hpp"
#include "core/thread_annotations.hpp"
#include "locks/coordinator/intrusive_list.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::inline v1::detail {

/// Keeps the operations whose handlers run in one context, so that no handler is posted to a
/// context that is gone, and lets a context wait for the backend while there are operations.
/// Thread-safe.
class ContextOperations final : public SpaceAttachment, public ContextPart {
 public:
  /// `space` is null if no Locks and no Lock of it is left. May throw.
  static std::shared_ptr<ContextOperations> of(const std::shared_ptr<SpaceRef>& space,
                                               const HandlerContext& context);

  /// `subject`: the context, or what stands for those that are not known. `loop` may be null.
  ContextOperations(const void* subject, boost::asio::any_io_executor executor,
                    std::shared_ptr<LoopWait> loop) noexcept;

  /// The work of the operation is under way. False: the context has shut down.
  bool add(Operation& operation) noexcept;
  /// The operation has ended: its handler is posted, unless the context has shut down.
  void deliver(Operation& operation) noexcept;

  // --- SpaceAttachment, ContextPart ---
  [[nodiscard]] bool is_for(const void* subject) const noexcept override;
  [[nodiscard]] bool runs_on_this_thread() const noexcept override;
  void space_ends() noexcept override;
  void context_shuts_down() noexcept override;

 private:
  const void* const subject_;
  const boost::asio::any_io_executor executor_;  ///< shows whether a thread runs the context
  const std::shared_ptr<LoopWait> loop_;         ///< null: the timer thread drives the backend
  SmallMutex mutex_;
  std::atomic<bool> shut_down_ = false;  ///< written with the mutex held
  IntrusiveList<Operation> operations_ LATCHKEY_GUARDED_BY(mutex_);
};

}  // namespace latchkey::inline v1::detail

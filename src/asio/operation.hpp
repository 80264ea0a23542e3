// One asynchronous operation, and the handler that it ends with.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include <latchkey/detail/asio/initiation.hpp>

#include "locks/async/async_call.hpp"

namespace latchkey::inline v1::detail {

class ContextOperations;
class SpaceRef;

/// From its initiation until its handler runs.
///
/// | event                  | what happens                                                       |
/// |------------------------|--------------------------------------------------------------------|
/// | start                  | the work starts; if it has ended at once, the handler is posted    |
/// | the work ends          | the handler is posted to its executor                              |
/// | cancel                 | the work is asked to end                                           |
/// | the posted handler     | the result is taken, and the handler called                        |
/// | the context shuts down | the handler is destroyed, and the work is asked to end             |
///
/// Counts its references: one of the work or, after that, of the posted handler; one of the
/// handler's cancellation slot.
class Operation : protected AsyncObserver {
 public:
  /// Owns one reference.
  class Reference {
   public:
    explicit Reference(Operation& adopted) noexcept : operation_(&adopted) {}
    Reference(Reference&& other) noexcept : operation_(std::exchange(other.operation_, nullptr)) {}
    Reference& operator=(Reference&&) = delete;
    ~Reference() {
      if (operation_ != nullptr) operation_->drop();
    }
    explicit operator bool() const noexcept { return operation_ != nullptr; }
    [[nodiscard]] Operation& operator*() const noexcept { return *operation_; }

   private:
    Operation* operation_;
  };

  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  /// From spare memory of the thread, if it is one of Asio's.
  static void* operator new(std::size_t size);
  static void operator delete(void* memory, std::size_t size) noexcept;

  /// Starts a new operation, whose first reference it takes over. `space`, which may belong to the
  /// operation, is null if no Locks and no Lock of it is left.
  static void start(Operation& made, const std::shared_ptr<SpaceRef>& space,
                    const HandlerContext& context);

  [[nodiscard]] Reference share() noexcept {
    references_.fetch_add(1, std::memory_order_relaxed);
    return Reference(*this);
  }
  /// On any thread, while somebody has a reference.
  virtual void cancel() noexcept = 0;

  // --- by ContextOperations ---
  /// Posts the handler, which takes over the work's reference.
  void post() noexcept;
  /// The handler cannot be called any more: destroys it and asks the work to end.
  virtual void abandon() noexcept = 0;
  /// Abandons the operation while its context ends, and drops its executors, which are of no use
  /// then. The operation may outlive the context.
  void end_with_context() noexcept;

  // Links of the list in ContextOperations, guarded by the mutex there:
  Operation* previous = nullptr;
  Operation* next = nullptr;
  bool listed = false;

 protected:
  explicit Operation(const boost::asio::any_io_executor& executor);
  virtual ~Operation();

  /// True: pending, and `ended` will be called. May throw.
  virtual bool start_work() = 0;
  /// Takes the result, drops `self` and calls the handler.
  virtual void complete(Reference self) = 0;

  [[nodiscard]] AsyncObserver& observer() noexcept { return *this; }

  /// For `complete`: what `take()` throws, or why the work did not start. Null: neither. Then drops
  /// the reference.
  template <class Take>
  [[nodiscard]] std::exception_ptr error_of(Reference /*self*/, Take&& take) noexcept {
    if (failure_) return std::exchange(failure_, nullptr);
    try {
      take();
      return nullptr;
    } catch (...) {
      return std::current_exception();
    }
  }

 private:
  class Posted;

  static void prepare(const std::shared_ptr<SpaceRef>& space, const HandlerContext& context);
  void record(const std::shared_ptr<SpaceRef>& space, const HandlerContext& context);
  void ended() noexcept override;
  void deliver() noexcept;

  /// Whether start_work has returned, and whether the work has ended.
  enum class Progress : std::uint8_t { starting, started, ended };

  void drop() noexcept {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  std::exception_ptr failure_{};  ///< start_work threw
  std::atomic<unsigned> references_{1};
  std::atomic<Progress> progress_{Progress::starting};
  boost::asio::any_io_executor executor_;
  boost::asio::any_io_executor work_{};  ///< pending: keeps the context from running out of work
  std::shared_ptr<ContextOperations> operations_{};  ///< null: the work has ended at once
};

/// The handler of an operation, and its cancellation slot.
template <class Signature>
class HandlerSlot {
 public:
  explicit HandlerSlot(AnyHandler<Signature>&& handler) noexcept : handler_(std::move(handler)) {}

  /// All three cancellation types end the operation. Before it is started: the slot belongs to the
  /// handler's executor.
  void connect(Operation& operation) {
    auto slot = handler_.get_cancellation_slot();
    if (slot.is_connected()) slot.template emplace<Cancel>(operation);
  }

  /// The operation has ended, or its context has: the slot refers to it no longer.
  [[nodiscard]] AnyHandler<Signature> take() noexcept {
    auto slot = handler_.get_cancellation_slot();
    if (slot.is_connected()) slot.clear();
    return std::move(handler_);
  }

 private:
  struct Cancel {
    explicit Cancel(Operation& operation) noexcept : reference(operation.share()) {}
    void operator()(boost::asio::cancellation_type type) const noexcept {
      if (type != boost::asio::cancellation_type::none) (*reference).cancel();
    }
    Operation::Reference reference;
  };

  AnyHandler<Signature> handler_;
};

}  // namespace latchkey::inline v1::detail

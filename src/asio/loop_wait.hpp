// An execution context: how it waits for the backend of a space, and who learns of its end.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <latchkey/loop_driver.hpp>

#include "core/mutex.hpp"
#include "core/thread_annotations.hpp"
#include "locks/space/space_ref.hpp"

namespace latchkey::inline v1::detail {

/// A part of an execution context that is notified when the context shuts down.
class ContextPart {
 public:
  /// On the thread that destroys the context. No thread runs it any more.
  virtual void context_shuts_down() noexcept = 0;

 protected:
  ~ContextPart() = default;
};

/// Belongs to one execution context, and tells its parts that it shuts down.
class ContextService final : public boost::asio::execution_context::service {
 public:
  using key_type = ContextService;
  static boost::asio::execution_context::id id;

  explicit ContextService(boost::asio::execution_context& context) : service(context) {}

  /// To the context of `executor`, on a thread that may use it.
  static void add(const boost::asio::any_io_executor& executor,
                  const std::shared_ptr<ContextPart>& part);

 private:
  void shutdown() override;

  Mutex mutex_;
  std::vector<std::weak_ptr<ContextPart>> parts_ LATCHKEY_GUARDED_BY(mutex_);
};

/// Waits with Asio for a LoopDriver while somebody uses it, and drives it. A context without
/// pending operations does not wait, so that `run` can return. Thread-safe.
///
/// | stage      | meaning                                          | next stages         |
/// |------------|--------------------------------------------------|---------------------|
/// | idle       | nothing is waited for                            | waiting, closed     |
/// | waiting    | the descriptor is waited for                     | driving, cancelling |
/// | cancelling | the last user has gone; the wait ends soon       | idle, closed        |
/// | driving    | a thread of the context drives the backend       | handling            |
/// | handling   | the context runs the handlers of what ended then | idle, driving       |
/// | closed     | the context or the space has ended               |                     |
class LoopWait final : public SpaceAttachment,
                       public ContextPart,
                       public std::enable_shared_from_this<LoopWait> {
 public:
  /// Null: the backend has no LoopDriver. Throws std::bad_alloc.
  static std::shared_ptr<LoopWait> make(const std::shared_ptr<SpaceRef>& space,
                                        const boost::asio::any_io_executor& executor);
  /// No context waits for the backend: the threads inside Backend::drive do the work.
  static void rely_on_threads(LockSpace& space);
  /// For a backend whose attempts block: the one of its thread pool. Null: no such backend, or no
  /// pool.
  static std::shared_ptr<LoopWait> of_pool(SpaceRef& space);
  /// Throws NotConfigured if the attempts of the backend block and there is no pool.
  static void require_pool(SpaceRef& space);
  /// From now on `executor`, of a thread pool, runs these attempts.
  static void use_pool(const std::shared_ptr<SpaceRef>& space,
                       const boost::asio::any_io_executor& executor);

  LoopWait(const std::shared_ptr<SpaceRef>& space, std::unique_ptr<LoopDriver> driver,
           const boost::asio::any_io_executor& executor);
  ~LoopWait() override { close(); }

  /// An operation is pending, and has submitted its requests: waits, unless it does already.
  void add_user() noexcept;
  void remove_user() noexcept;

  // --- SpaceAttachment, ContextPart ---
  [[nodiscard]] bool is_for(const void* subject) const noexcept override;
  void space_ends() noexcept override { close(); }
  void context_shuts_down() noexcept override { close(); }

 private:
  enum class Stage : std::uint8_t { idle, waiting, cancelling, driving, handling, closed };

  void start_waiting() noexcept LATCHKEY_REQUIRES(mutex_);
  void on_wait_ended(bool readable) noexcept;
  void wait_again() noexcept LATCHKEY_REQUIRES(mutex_);
  void drive_and_handle() noexcept LATCHKEY_REQUIRES(mutex_);
  void drive() noexcept;
  void post_handlers_end() noexcept;
  void on_handlers_ended() noexcept;
  void close() noexcept;

  const std::weak_ptr<SpaceRef> space_;
  const bool blocks_;                   ///< several threads may drive at once, and each blocks
  std::unique_ptr<LoopDriver> driver_;  ///< null: closed
  const boost::asio::any_io_executor executor_;
  mutable Mutex mutex_;
  Stage stage_ LATCHKEY_GUARDED_BY(mutex_) = Stage::idle;
  std::size_t users_ LATCHKEY_GUARDED_BY(mutex_) = 0;
  std::optional<boost::asio::posix::stream_descriptor> descriptor_ LATCHKEY_GUARDED_BY(mutex_);
};

}  // namespace latchkey::inline v1::detail

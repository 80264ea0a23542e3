// The client of one store, without threads and without waiting.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include <latchkey/backend.hpp>

#include "backend/connection/failure.hpp"
#include "core/thread_annotations.hpp"
#include "stores/driver/descriptor_set.hpp"
#include "stores/driver/outbox.hpp"

namespace latchkey::inline v1::detail::stores {

using Failure = ConnectionFailure;

/// The client that a DrivenBackend drives: a library that reads and writes without blocking. It
/// turns requests into the store's commands and replies into deliveries. It never waits, and starts
/// no thread. DrivenBackend calls it under a mutex, so one thread at a time.
///
/// | member     | called                                                  | may do I/O            |
/// |------------|---------------------------------------------------------|-----------------------|
/// | submit     | by a caller                                             | none                  |
/// | send       | after each submit                                       | send without blocking |
/// | advance    | when `descriptors` has something, when it is due, and   | all without blocking  |
/// |            | whenever a thread comes to drive                        |                       |
/// | start_over | after `send` or `advance` threw std::bad_alloc          | close connections     |
/// | abandon    | in a forked child                                       | none                  |
class StoreClient {
 public:
  StoreClient() = default;
  StoreClient(const StoreClient&) = delete;
  StoreClient& operator=(const StoreClient&) = delete;
  virtual ~StoreClient() = default;

  [[nodiscard]] virtual Capabilities capabilities() const noexcept = 0;
  /// As in Backend.
  [[nodiscard]] virtual std::string describe() const = 0;
  [[nodiscard]] virtual std::string warning() const { return {}; }

  /// How far the first connection is.
  enum class Start : std::uint8_t { connecting, up, failed };
  [[nodiscard]] virtual Start start_state() const noexcept = 0;
  /// Why the store cannot be used; null: no attempt has failed since it was up.
  [[nodiscard]] virtual const Failure* failure() const noexcept = 0;

  /// Takes all requests, or none if it throws std::bad_alloc. Each is completed once, through the
  /// outbox, in which it has begun.
  virtual void submit(std::span<Request* const> requests, Sink& sink) = 0;
  /// As Backend::answer, for a client that `answers_at_once`: no request of it waits for anything.
  virtual void answer(Request& /*request*/, Outcome& /*outcome*/, Sink& /*sink*/) {}
  [[nodiscard]] virtual bool answers_at_once() const noexcept { return false; }
  /// As Backend::grant_uncontended. Without the mutex, on any thread.
  [[nodiscard]] virtual bool grant_uncontended(const Request& /*request*/,
                                               const Sink& /*sink*/) noexcept {
    return false;
  }
  /// Around a fork, with the mutex held: no thread is in `grant_uncontended`.
  virtual void lock_for_fork() noexcept LATCHKEY_FORK_HANDLER {}
  virtual void unlock_after_fork() noexcept LATCHKEY_FORK_HANDLER {}
  /// Sends what was submitted, if that is possible without waiting. Throws std::bad_alloc.
  virtual void send(Clock::time_point /*now*/) {}
  /// Reads, writes, connects, and does what is due at `now`. Throws std::bad_alloc.
  virtual void advance(Clock::time_point now) = 0;
  /// Memory was missing in the middle of something: forgets every request, which DrivenBackend
  /// completes as unknown, and drops the connection, so that no reply to them arrives. The holds of
  /// this process at the store stay, as do its places in queues and its subscriptions. Needs
  /// no memory. The next attempt to connect follows after a pause.
  virtual void start_over(Clock::time_point now) noexcept = 0;
  /// When `advance` has something to do without an event of a descriptor.
  [[nodiscard]] virtual Clock::time_point due() const noexcept = 0;
  /// Whether events may arrive that are no outcomes, such as grants: a thread that drives then
  /// waits for them at once. Without them a thread that awaits nothing lets callers lead.
  [[nodiscard]] virtual bool awaits_events() const noexcept { return true; }
  /// Closes nothing that the parent uses and sends nothing: every request under way is forgotten,
  /// every connection replaced by a new one. `Outbox::forget` and `DescriptorSet::renew` are called
  /// by DrivenBackend.
  virtual void abandon() noexcept = 0;

  [[nodiscard]] Outbox& outbox() noexcept { return outbox_; }
  [[nodiscard]] DescriptorSet& descriptors() noexcept { return descriptors_; }

 protected:
  Outbox outbox_;
  DescriptorSet descriptors_;
};

}  // namespace latchkey::inline v1::detail::stores

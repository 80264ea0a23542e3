// A backend whose client is driven by the threads that wait.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/options.hpp>

#include "core/at_fork.hpp"
#include "core/mutex.hpp"
#include "core/parked_threads.hpp"
#include "core/thread_annotations.hpp"
#include "stores/driver/store_client.hpp"

namespace latchkey::inline v1::detail::stores {

/// Drives a StoreClient by the threads inside `drive` (Leader/Followers, POSA2): one of them, the
/// leader, waits for the client's descriptors; the others park until a sink or the leader wakes
/// them. An event loop waits for the same descriptors. Thread-safe.
class DrivenBackend final : public Backend, private ForkParticipant {
 public:
  class EventLoop;

  DrivenBackend(std::unique_ptr<StoreClient> client, const Options& options);
  DrivenBackend(const DrivenBackend&) = delete;
  DrivenBackend& operator=(const DrivenBackend&) = delete;
  ~DrivenBackend() override;

  /// Waits for the first connection, for command_timeout at most. Throws BackendRefused or, unless
  /// `may_be_absent`, BackendUnavailable.
  void start(bool may_be_absent);

  /// Some are known once the store has answered.
  [[nodiscard]] Capabilities capabilities() const noexcept override;
  [[nodiscard]] std::string describe() const override { return description_; }
  [[nodiscard]] std::string warning() const override;
  [[nodiscard]] std::vector<Connection> connections() const override;
  void submit(std::span<Request* const> requests, Sink& sink) override;
  bool answer(Request& request, Outcome& outcome, Sink& sink) override;
  bool grant_uncontended(const Request& request, Sink& sink) noexcept override {
    return client_->grant_uncontended(request, sink);
  }
  void drive(Parker& parker, Clock::time_point until) override;
  [[nodiscard]] std::unique_ptr<LoopDriver> make_loop_driver() override;
  void forget_parent() noexcept override;

 private:
  /// Wakes the thread that polls.
  class Doorbell final : public Parker::Alarm {
   public:
    Doorbell();
    Parker::Wake ring() noexcept override;
    void clear() noexcept;
    void renew();
    [[nodiscard]] int descriptor() const noexcept { return event_.get(); }

   private:
    FileDescriptor event_;
  };

  /// The role of a thread in `drive`: it decides which events the thread waits for.
  enum class Role : std::uint8_t {
    leader,          ///< the client's descriptors
    follower,        ///< its own event, while another thread leads
    brief_follower,  ///< a follower for a moment: while callers come and go, each leads for itself
  };

  /// Calls the client. Without memory for that, the client starts over, and every request that is
  /// under way ends as unknown: none is lost.
  template <class Act>
  void attempt(Act&& act) LATCHKEY_REQUIRES(mutex_);
  /// Calls the sinks of everything that has arrived. True: there was something.
  bool deliver() LATCHKEY_REQUIRES(mutex_);
  /// Lets the client do what it can, and delivers. True: there was something.
  bool work() LATCHKEY_REQUIRES(mutex_);
  /// Tells the sinks of a store that has begun to refuse this client.
  void report_refusal() LATCHKEY_REQUIRES(mutex_);
  /// `seen`: arrivals_ at the last call by this thread; it becomes that of now.
  [[nodiscard]] Role role(std::uint64_t& seen) const LATCHKEY_REQUIRES(mutex_);
  /// Returns whether the parker was unparked, as do lead, follow and follow_briefly.
  bool wait(Role role, Parker& parker, Clock::time_point until) LATCHKEY_REQUIRES(mutex_);
  bool lead(Parker& parker, Clock::time_point until) LATCHKEY_REQUIRES(mutex_);
  bool follow(Parker& parker, Clock::time_point until) LATCHKEY_REQUIRES(mutex_);
  /// Follows for a moment, then looks whether callers still come.
  bool follow_briefly(Parker& parker, Clock::time_point until) LATCHKEY_REQUIRES(mutex_);
  void poll(Clock::time_point until) LATCHKEY_REQUIRES(mutex_);
  /// A request is under way, or the store may report something without one.
  [[nodiscard]] bool expects_something() const LATCHKEY_REQUIRES(mutex_);
  /// Wakes the thread or event loop that waits, if there is something to do earlier than it knows.
  void wake_driver() LATCHKEY_REQUIRES(mutex_);

  void prepare() noexcept LATCHKEY_FORK_HANDLER override {
    mutex_.lock();
    client_->lock_for_fork();
  }
  void parent() noexcept LATCHKEY_FORK_HANDLER override {
    client_->unlock_after_fork();
    mutex_.unlock();
  }
  void child() noexcept LATCHKEY_FORK_HANDLER override { parent(); }

  const std::chrono::milliseconds timeout_;
  Clock& clock_;
  mutable Mutex mutex_;
  const std::unique_ptr<StoreClient> client_;  ///< the client itself is guarded by mutex_
  const std::string description_;
  const bool answers_at_once_;
  Doorbell doorbell_;
  bool led_ LATCHKEY_GUARDED_BY(mutex_) = false;         ///< a thread polls
  bool delivering_ LATCHKEY_GUARDED_BY(mutex_) = false;  ///< a thread calls sinks
  bool refused_ LATCHKEY_GUARDED_BY(mutex_) = false;     ///< the sinks know that the store refuses
  /// The deliveries that are handed to sinks together. Empty while a thread does that.
  std::vector<Delivery> batch_ LATCHKEY_GUARDED_BY(mutex_);
  std::uint64_t brief_followers_ LATCHKEY_GUARDED_BY(mutex_) = 0;  ///< threads in follow_briefly
  std::uint64_t arrivals_ LATCHKEY_GUARDED_BY(mutex_) = 0;         ///< calls of drive so far
  Clock::time_point polls_until_ LATCHKEY_GUARDED_BY(mutex_) = Clock::never();
  std::uint64_t polls_change_ LATCHKEY_GUARDED_BY(mutex_) = 0;  ///< DescriptorSet::changes then
  ParkedThreads followers_ LATCHKEY_GUARDED_BY(mutex_);
  std::vector<EventLoop*> loops_ LATCHKEY_GUARDED_BY(mutex_);  ///< that have joined
};

/// The backend of this client, connected; throws what DrivenBackend::start throws.
[[nodiscard]] std::unique_ptr<Backend> drive_client(std::unique_ptr<StoreClient> client,
                                                    const Options& options);
/// Connects by a URI: what a store registers.
template <class Client, class Uri>
[[nodiscard]] std::unique_ptr<Backend> connect_client(std::string_view uri,
                                                      const Options& options) {
  return drive_client(std::make_unique<Client>(Uri::parse(uri), options), options);
}

}  // namespace latchkey::inline v1::detail::stores

// The client of a segment, which DrivenBackend drives.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <latchkey/options.hpp>

#include "host/peers.hpp"
#include "host/session.hpp"
#include "host/shared_table.hpp"
#include "stores/driver/store_client.hpp"

namespace latchkey::inline v1::detail::host {

/// Answers each request at once, on the thread that asks. A thread that drives waits for its FIFO,
/// by which other processes wake this one, and for the deaths of the other processes.
class HostClient final : public stores::StoreClient, private SharedTable::Listener {
 public:
  /// Throws what Session throws.
  HostClient(SegmentPlace place, const Options& options);
  HostClient(const HostClient&) = delete;
  HostClient& operator=(const HostClient&) = delete;
  ~HostClient() override;

  [[nodiscard]] Capabilities capabilities() const noexcept override {
    return LockTable::capabilities();
  }
  [[nodiscard]] std::string describe() const override { return session_.place().description; }
  [[nodiscard]] Start start_state() const noexcept override { return Start::up; }
  [[nodiscard]] const stores::Failure* failure() const noexcept override { return nullptr; }
  [[nodiscard]] bool answers_at_once() const noexcept override { return true; }

  void answer(Request& request, Outcome& outcome, Sink& sink) override;
  [[nodiscard]] bool grant_uncontended(const Request& request, const Sink& sink) noexcept override {
    // A sink that this client does not know would not be told of anything.
    return &sink == known_sink_.load(std::memory_order_relaxed) && grant_thin(request);
  }
  void lock_for_fork() noexcept LATCHKEY_FORK_HANDLER override { thin_.lock_all(); }
  void unlock_after_fork() noexcept LATCHKEY_FORK_HANDLER override { thin_.unlock_all(); }
  void submit(std::span<Request* const> requests, Sink& sink) override;
  void advance(Clock::time_point now) override;
  void start_over(Clock::time_point /*now*/) noexcept override {}
  [[nodiscard]] Clock::time_point due() const noexcept override;
  void abandon() noexcept override;

 private:
  /// A subscription of a sink: a segment that takes the place of this one learns of it.
  struct Subscription {
    std::string key;
    LockType type;
    HoldId id;
    bool queues, in_line, latch, revocations;
    std::uint32_t sink;
    friend bool operator==(const Subscription&, const Subscription&) = default;
  };

  /// A key for which this process is the first in line, and when the turn of another one ends.
  struct AwaitedEnd {
    std::string key;
    Clock::time_point ends;
  };

  [[nodiscard]] bool grant_thin(const Request& request) noexcept {
    const bool is_complete = request.sent != Clock::time_point{} && request.hash != 0;
    return is_complete && !request.latch && thin_.apply(request);
  }
  void replaced(Outcome& outcome);
  void note_turn(const Request& request);
  void end_turns(Clock::time_point now);

  void notified(std::uint32_t sink, const Notification& notification) override;
  void missed() override;
  void abandoned(const std::string& key, LockType type, std::uint64_t pid) override;

  std::uint32_t number_of(Sink& sink);
  void remember(const Request& request, std::uint32_t sink);
  /// Begins to use the slot.
  void enter();
  /// Takes a slot if this process has none: after a fork, or if that failed in a new segment.
  void join();
  /// In the segment that has the place of the old one.
  void rejoin();
  void take_slot();
  /// A segment whose file was removed serves nobody who comes later.
  void check_place(const Request& request);
  void watch_members();
  /// The process that had this descriptor open has died.
  void reap_owner_of(int life);
  void watch_own();
  void unwatch(std::size_t slot) noexcept;

  Clock& clock_;
  Session session_;
  ThinLocks thin_;
  SharedTable table_;
  std::atomic<const Sink*> known_sink_{nullptr};  ///< the last one that the outbox knows
  Peers watched_;                                 ///< whose descriptors are in the DescriptorSet
  std::uint64_t members_ = 0;
  Clock::time_point place_checked_{};
  std::vector<AwaitedEnd> turns_;
  std::vector<Sink*> sinks_;
  std::vector<Subscription> subscriptions_;
};

}  // namespace latchkey::inline v1::detail::host

// A quorum of servers as one backend.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>

#include "core/at_fork.hpp"
#include "core/small_mutex.hpp"
#include "core/thread_annotations.hpp"
#include "quorum/operation.hpp"

namespace latchkey::inline v1::detail::quorum {

/// The backend described in include/latchkey/quorum.hpp.
///
/// `mutex_` guards everything that is written after the constructor. It is never held while a
/// server or a sink is called, so servers may reply from any thread at any time, even before all
/// servers were sent their sub-request.
class QuorumBackend final : public Backend, private ForkParticipant {
 public:
  QuorumBackend(std::vector<std::unique_ptr<Backend>> servers, Clock& clock);
  QuorumBackend(const QuorumBackend&) = delete;
  QuorumBackend& operator=(const QuorumBackend&) = delete;
  ~QuorumBackend() override;

  Capabilities capabilities() const noexcept override;
  std::string describe() const override;
  std::string warning() const override;
  std::vector<Connection> connections() const override;
  void submit(std::span<Request* const> requests, Sink& sink) override;
  void cork() noexcept override;
  void uncork() noexcept override;
  void drive(Parker& parker, Clock::time_point until) override;
  void forget_parent() noexcept override;

 private:
  /// The submitter's hold, or attempt, as the servers know it.
  struct Known {
    HoldId wire;
    std::chrono::milliseconds lease{};
    bool held = false;
    bool ending = false;      ///< its release is under way: later grants are released
    bool downgraded = false;  ///< from a WRITE, which some servers may still have
  };
  /// A WRITE that was busy, by the submitter's id.
  struct Writer {
    HoldId gate;  ///< number 0: it has not waited long enough to shut the gate
    Clock::time_point since, seen;
    std::string key;
  };
  struct Hash {
    std::size_t operator()(const HoldId& id) const noexcept {
      return static_cast<std::size_t>(id.number * 0x9E3779B97F4A7C15U ^ id.space[0] ^ id.space[1]);
    }
  };
  /// An outcome to be delivered to a sink after the mutex is unlocked.
  struct Answer {
    Request* request;
    Sink* sink;
    Outcome outcome;
  };
  struct Later {
    std::vector<Operation*> start;
    std::vector<Answer> answers;
    std::list<Operation> ended;
  };
  /// A release without a reply: it is repeated until the lease must have ended.
  struct Compensation {
    std::size_t server;
    Verb verb;
    HoldId id, wire;
    std::string key;
    LockType type;
    std::chrono::milliseconds lease;
    Clock::time_point until, at;
  };
  using Lock = std::unique_lock<SmallMutex>;

  /// Receives the outcomes and notifications of one server.
  class Answers final : public Sink {
   public:
    Answers(QuorumBackend& quorum, std::size_t server) : quorum_(quorum), server_(server) {}
    void completed(Request& request, Outcome&& outcome) noexcept override {
      quorum_.completed(request, std::move(outcome));
    }
    void notified(const Notification& notification) noexcept override {
      quorum_.notified(server_, notification);
    }

   private:
    QuorumBackend& quorum_;
    std::size_t server_;
  };

  void completed(Request& request, Outcome&& outcome) noexcept;
  /// Handles notifications about the server's connection and its warning; nothing else was
  /// subscribed to.
  void notified(std::size_t server, const Notification& notification) noexcept;

  void begin(Request& request, Sink& sink, Later& later);
  Operation& operation(Verb verb, const HoldId& id, const HoldId& wire, std::string_view key,
                       LockType type, std::chrono::milliseconds lease);
  void send_to(Operation& made, std::size_t server);
  void send_to(SubRequest& sub_request);
  void compensate(Later& later);
  // the gate: see quorum_holds.cpp
  void look_at_gate(Operation& made);
  void shut_gate(const Operation& busy, Later& later);
  void open_gate(const HoldId& writer, Later& later);
  void change_gate(Verb verb, const Writer& writer, Later& later);
  void forget_writers();
  void decide(Operation& one, Later& later);
  [[nodiscard]] bool awaits_usual_servers(const Operation& one) const;
  void note_reply_to_release(const SubRequest& sub_request);
  void settle(Operation& one, const Outcome& outcome, Later& later);
  void complete(Operation& one, Later& later);
  Operation& give_back(const Operation& of, std::size_t server, Later& later);
  void repair(const Operation& of, std::size_t server, Later& later);
  void follow_up(const SubRequest& sub_request, const Outcome& outcome, Later& later);
  void expire(Later& later);
  void end_if_done(Operation& one, Later& later);
  /// How long to wait for the servers' replies. An acquire does not wait for a slow server, which
  /// would use up its lease. Other requests may take longer before their outcome counts as unknown.
  [[nodiscard]] static std::chrono::milliseconds patience(Verb verb,
                                                          std::chrono::milliseconds lease) noexcept;
  [[nodiscard]] bool live(const Operation& one) const;
  void carry_out(Later& later) noexcept;
  /// `unparks`: how often the parker was unparked before the drive began.
  void drive_servers(Parker& parker, Clock::time_point until, std::uint64_t unparks);

  /// The servers with a pending reply: first those that an undecided operation waits for and that
  /// are not slow.
  struct Round {
    std::vector<std::size_t> servers;
    bool undecided = false;  ///< an undecided operation waits for the first server
    Clock::time_point deadline = Clock::never();
  };
  [[nodiscard]] Round round();

  void prepare() noexcept LATCHKEY_FORK_HANDLER override { mutex_.lock(); }
  void parent() noexcept LATCHKEY_FORK_HANDLER override { mutex_.unlock(); }
  void child() noexcept LATCHKEY_FORK_HANDLER override { mutex_.unlock(); }

  [[nodiscard]] std::string name_of(std::size_t server, std::string_view within) const;

  /// Counts this thread's calls of sinks, to find out whether a server's drive made one.
  static constinit thread_local unsigned completions_;

  std::vector<Answers> from_;  ///< one for each server, like all `by server` members
  std::vector<std::unique_ptr<Backend>> servers_;
  std::vector<std::string> names_;
  Clock& clock_;

  SmallMutex mutex_;
  std::array<std::uint64_t, 2> space_;
  std::uint64_t last_id_ = 0;
  std::unordered_map<HoldId, Known, Hash> known_;
  std::list<Operation> operations_;
  std::vector<Compensation> compensations_;
  std::unordered_map<HoldId, Writer, Hash> writers_;
  std::vector<Sink*> sinks_;     ///< all sinks that ever submitted
  std::vector<Answer> answers_;  ///< outcomes that need no server
  std::vector<unsigned> slow_;  ///< by server: how many decisions it was too late for since a reply
  std::vector<unsigned> missed_releases_;  ///< by server: how many it was too late for, in a row
  std::vector<std::size_t> awaited_;       ///< by server: sub-requests without a reply
};

}  // namespace latchkey::inline v1::detail::quorum

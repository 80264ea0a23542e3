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
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>

#include "core/at_fork.hpp"
#include "core/collections/small_vector.hpp"
#include "core/small_mutex.hpp"
#include "core/thread_annotations.hpp"
#include "quorum/gates.hpp"
#include "quorum/operation.hpp"

namespace latchkey::inline v1::detail::quorum {

/// The backend described in include/latchkey/quorum.hpp.
///
/// `mutex_` guards everything that is written after the constructor. It is never held while a
/// server or a sink is called, so servers may reply from any thread at any time, even before all
/// servers were sent their sub-request.
///
/// A failed allocation is thrown by `submit`, which has done nothing then. All that follows uses
/// memory of the operation. If a server has none for a sub-request, it counts as silent, and a
/// release is sent again by the next drive.
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
    std::shared_ptr<Copies> copies{};
    std::chrono::milliseconds lease{};
    bool held = false;
    bool ending = false;      ///< its release is under way: later grants are released
    bool downgraded = false;  ///< from a WRITE, which some servers may still have
  };
  /// The work that is done after the mutex is unlocked.
  struct Later {
    SubRequestQueue unsent;
    std::list<Answer> answers;
    std::list<Operation> ended;
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

  /// Finds out which servers are the same as one before them: only a connected server has an
  /// identity. True: `repeated_` has changed.
  [[nodiscard]] bool find_repeated_servers();
  void on_reply(SubRequest& sub_request, Outcome&& outcome, Later& later) noexcept;

  /// Makes an operation for each request, with all the memory that it may need. Throws
  /// std::bad_alloc, and then nothing has changed.
  [[nodiscard]] std::list<Operation> make_operations(std::span<Request* const> requests,
                                                     Sink& sink);
  void begin(std::list<Operation>& prepared, Later& later) noexcept;
  void fill_in(Operation& made) noexcept;
  void ask_servers(Operation& one, Later& later) noexcept;
  /// The outcome at a server that need not, or should not, be asked. Empty: it is asked.
  [[nodiscard]] std::optional<Outcome> vote_without_asking(const Operation& one,
                                                           std::size_t server) noexcept;
  [[nodiscard]] bool is_suspended(std::size_t server) noexcept;
  void start(SubRequest& sub_request, Later& later) noexcept;
  /// The copy that the sub-request is about; null: it is about a gate.
  [[nodiscard]] static Copy* copy_of(const SubRequest& sub_request) noexcept;
  static void note_reply(const SubRequest& sub_request, const Outcome& outcome) noexcept;
  void on_out_of_memory(SubRequest& sub_request, Later& later) noexcept;
  // the effect of a reply: see quorum_holds.cpp
  void decide(Operation& one, Later& later) noexcept;
  [[nodiscard]] bool awaits_usual_servers(const Operation& one) const noexcept;
  void note_reply_to_release(const SubRequest& sub_request) noexcept;
  void settle(Operation& one, Later& later) noexcept;
  void start_at_gate(std::list<Operation> change, Later& later) noexcept;
  void complete(Operation& one, Later& later) noexcept;
  void give_back(SubRequest& slot, Later& later) noexcept;
  void repair(SubRequest& slot, Later& later) noexcept;
  void follow_up(SubRequest& sub_request, const Outcome& outcome, Later& later) noexcept;
  void repeat_later(SubRequest& sub_request) noexcept;
  void repeat_releases(Later& later) noexcept;
  void repeat_releases(std::size_t server, std::size_t most, Later& later) noexcept;
  void end_repetition(SubRequest& sub_request, Later& later) noexcept;
  void end_wait_for(SubRequest& sub_request, Later& later) noexcept;
  void expire(Later& later) noexcept;
  void end_if_done(Operation& one, Later& later) noexcept;
  /// How long to wait for the servers' replies. An acquire does not wait for a slow server, which
  /// would use up its lease. Other requests may take longer before their outcome counts as unknown.
  [[nodiscard]] static std::chrono::milliseconds patience(Verb verb,
                                                          std::chrono::milliseconds lease) noexcept;
  [[nodiscard]] bool live(const Operation& one) const noexcept;
  void send(Later& later) noexcept;
  void carry_out(Later& later) noexcept;
  /// `unparks`: how often the parker was unparked before the drive began. Throws std::bad_alloc.
  void drive_servers(Parker& parker, Clock::time_point until, std::uint64_t unparks);
  void poll(std::size_t server, Parker& parker) noexcept;

  struct PendingServer {
    bool waited_for;  ///< by an operation whose outcome it may change
    unsigned slow;    ///< as in `slow_`
    std::size_t server;
  };
  /// The servers with a pending reply: those that are waited for first, and of these the fastest.
  struct Round {
    SmallVector<PendingServer, 8> servers;
    Clock::time_point deadline = Clock::never();
    Clock::time_point repeat_at = Clock::never();  ///< when the first release is repeated
  };
  void look_at_servers(Round& round);

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

  mutable SmallMutex mutex_;
  std::array<std::uint64_t, 2> space_;
  std::uint64_t last_id_ = 0;
  std::unordered_map<HoldId, Known, HashOfId> known_;
  std::list<Operation> operations_;  ///< those whose outcome is not delivered
  std::list<Operation> delivered_;   ///< those that nobody waits for and that are not done
  Gates gates_;
  std::vector<Sink*> sinks_;    ///< all sinks that ever submitted
  std::list<Answer> answers_;   ///< outcomes that were known when the request was submitted
  std::vector<unsigned> slow_;  ///< by server: how many decisions it missed since a reply
  std::vector<bool> repeated_;  ///< by server: it is the same as one before it, and has no vote
  std::vector<Clock::time_point> probe_at_;  ///< by server: is_suspended
  std::vector<ReleaseBacklog> repeats_;      ///< by server
  std::vector<unsigned> missed_releases_;    ///< by server: how many it was too late for, in a row
  std::vector<std::size_t> awaited_;         ///< by server: sub-requests without a reply
};

}  // namespace latchkey::inline v1::detail::quorum

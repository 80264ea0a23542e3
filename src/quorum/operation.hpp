// One request and its sub-requests to several servers.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>

#include "quorum/ballot.hpp"

namespace latchkey::inline v1::detail::quorum {

struct Operation;

/// A request to one server, on behalf of an operation. When it is completed, the same object may be
/// sent again as another request: as the release of what was granted, or as the acquire of a hold
/// that the server has lost. So none of this needs memory.
struct SubRequest : Request {
  /// The purpose of a sub-request. `main` is the request of the submitter. `undo` is a release that
  /// is sent while `main` is under way. For the acquire of a READ, the server gets enters_gate,
  /// main and leaves_gate in one submit (gates.hpp).
  enum class Part : std::uint8_t { main, undo, enters_gate, leaves_gate };
  enum class Stage : std::uint8_t {
    idle,       ///< the server has nothing to reply to
    under_way,  ///< it is sent, or will be as soon as the mutex is unlocked
    to_repeat,  ///< a release that the server has not confirmed
  };

  Operation* of = nullptr;
  std::size_t server = 0;
  Part part = Part::main;
  Stage stage = Stage::idle;
  bool replied = false;    ///< main: the request of the submitter is completed at this server
  bool gate_shut = false;  ///< main: a WRITE has shut the gate there
  bool awaited = false;    ///< a release that the joint outcome waits for
  Clock::time_point repeat_until{};  ///< a release: when the lease has ended at the latest
  SubRequest* next_in_queue = nullptr;
};

/// Sub-requests, first in, first out. It links them, so it needs no memory.
class SubRequestQueue {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] SubRequest& front() const noexcept { return *first_; }

  void push_back(SubRequest& sub_request) noexcept;
  void push_front(SubRequest& sub_request) noexcept;
  SubRequest& pop_front() noexcept;
  void clear() noexcept { first_ = last_ = nullptr; }

  /// Moves the sub-requests for the server of the first one to `together` until that is full, and
  /// returns how many. The three that pass a gate are not divided: `together` has room for three.
  [[nodiscard]] std::size_t take_for_one_server(std::span<Request*> together) noexcept;

 private:
  SubRequest* first_ = nullptr;
  SubRequest* last_ = nullptr;
};

/// The part of a hold, or of an attempt, that one server may have under one wire id.
struct Copy {
  unsigned acquiring = 0;  ///< acquires that are under way
  bool possible = false;   ///< an acquire may have run
  bool repeating = false;  ///< a release had no reply, and is repeated until it has one

  /// False: the server has nothing that could be released.
  [[nodiscard]] bool may_exist() const noexcept { return possible || acquiring > 0; }
};
/// One copy for each server.
using Copies = std::vector<Copy>;

/// An outcome to be delivered to a sink after the mutex is unlocked.
struct Answer {
  Request* request;
  Sink* sink;
  Outcome outcome{};
};

/// Lives until every sub-request is idle, which may be long after the decision. It has all the
/// memory that its sub-requests, its outcome, and the releases that may follow need.
struct Operation {
  /// Throws std::bad_alloc.
  Operation(Verb what, std::string_view key, std::size_t servers);
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  /// The sub-request that the next release to this server uses.
  [[nodiscard]] SubRequest& idle_slot(std::size_t server) noexcept {
    SubRequest& main = sub_requests[server];
    return main.stage == SubRequest::Stage::idle ? main : undo[server];
  }
  /// The submitter has not received the outcome.
  [[nodiscard]] bool awaited() const noexcept { return !answer.empty(); }

  Verb verb;
  LockType type{};
  HoldId id;    ///< the id that the submitter uses
  HoldId wire;  ///< the id that the servers know
  const std::string key;
  std::chrono::milliseconds lease{};
  Clock::time_point deadline = Clock::never();
  std::chrono::milliseconds allowed{};  ///< the time that the servers have to reply
  Ballot ballot;
  std::vector<SubRequest> sub_requests;  ///< main, by server
  std::vector<SubRequest> undo;          ///< by server; a release has none
  std::string gate{};                    ///< the gate's key; empty: the gate is not checked
  std::vector<SubRequest> at_gate{};     ///< two for each server: enters_gate and leaves_gate
  bool is_gate = false;                  ///< it shuts or opens a gate for a WRITE
  bool downgraded = false;               ///< each server may have a READ or still a WRITE
  std::size_t open = 0;                  ///< sub-requests that are not idle
  bool decided = true;                   ///< the joint outcome is known, or nobody waits for it
  /// One element, with the joint outcome once it is decided, until it is delivered. It is delivered
  /// when all grants to be undone are released, or at the deadline.
  std::list<Answer> answer{};
  std::size_t giving_back = 0;             ///< releases that the outcome waits for
  std::shared_ptr<Copies> copies{};        ///< the copies under `wire`; null for a gate
  std::list<Operation>::iterator place{};  ///< its position in the list of operations
};

/// Releases to be sent again, with one timer for all of them: each second one is sent, to find out
/// whether the server replies again. Each reply then brings two more, so that a server that is back
/// gets them in a few round trips, and one that is not costs nothing. Needs no memory.
class ReleaseBacklog {
 public:
  /// When the next release is to be sent if the server does not reply before.
  [[nodiscard]] Clock::time_point due() const noexcept { return due_; }
  [[nodiscard]] bool empty() const noexcept { return queue_.empty(); }

  void add(SubRequest& release, Clock::time_point now) noexcept {
    queue_.push_back(release);
    due_ = std::min(due_, later(now, pause));
  }
  /// A release that could not be sent for lack of memory.
  void add_unsent(SubRequest& release, Clock::time_point now) noexcept {
    queue_.push_front(release);
    due_ = now;
  }
  /// Takes out the oldest release. There must be one.
  SubRequest& take(Clock::time_point now) noexcept {
    SubRequest& oldest = queue_.pop_front();
    due_ = queue_.empty() ? Clock::never() : later(now, pause);
    return oldest;
  }
  /// Calls `end(release)` for each one whose lease is over.
  template <class End>
  void drop_expired(Clock::time_point now, End&& end) noexcept {
    SubRequestQueue all = queue_;
    queue_.clear();
    while (!all.empty()) {
      SubRequest& release = all.pop_front();
      now >= release.repeat_until ? end(release) : queue_.push_back(release);
    }
    if (queue_.empty()) due_ = Clock::never();
  }
  /// The server is back: the next release is due at once.
  void send_soon(Clock::time_point now) noexcept {
    if (!queue_.empty()) due_ = now;
  }
  void clear() noexcept {
    queue_.clear();
    due_ = Clock::never();
  }

 private:
  static constexpr std::chrono::seconds pause{1};

  SubRequestQueue queue_;
  Clock::time_point due_ = Clock::never();
};

}  // namespace latchkey::inline v1::detail::quorum

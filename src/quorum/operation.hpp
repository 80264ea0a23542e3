// One request and its sub-requests to several servers.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>

#include "quorum/ballot.hpp"

namespace latchkey::inline v1::detail::quorum {

struct Operation;

/// The part of an operation that goes to one server.
struct SubRequest : Request {
  Operation* of = nullptr;
  std::size_t server = 0;
  /// For the acquire of a READ: the server gets enters_gate, main and leaves_gate in one submit
  /// (quorum_holds.cpp).
  enum class Part : std::uint8_t { main, enters_gate, leaves_gate } part = Part::main;
  bool sent_out = false;  ///< it is sent to this server
  bool answered = false;
};

/// Lives until every sub-request that was sent is completed, which may be long after the decision.
struct Operation {
  Operation(Verb what, std::size_t servers) : ballot(what, servers), sub_requests(servers) {}

  Request* asked = nullptr;  ///< null: made by the quorum itself, without a submitter
  Sink* sink = nullptr;
  HoldId id;    ///< the id that the submitter uses
  HoldId wire;  ///< the id that the servers know
  std::string key;
  std::chrono::milliseconds lease{};
  Clock::time_point deadline = Clock::never();
  std::string patience{};  ///< the reason for a server that misses the deadline
  Ballot ballot;
  std::vector<SubRequest> sub_requests;
  std::string gate{};                 ///< the gate's key; empty: the gate is not checked
  std::vector<SubRequest> at_gate{};  ///< two for each server: enters_gate and leaves_gate
  std::vector<bool> shut{};           ///< by server: a WRITE has shut the gate there
  bool is_gate = false;               ///< a WRITE shuts or opens the gate
  std::size_t open = 0;               ///< sub-requests without a reply
  bool decided = false;
  /// The joint outcome. It is delivered when all grants to be undone are released, or at the
  /// deadline.
  Outcome outcome{};
  std::size_t giving_back = 0;        ///< releases that are waited for
  Operation* released_for = nullptr;  ///< for a release: the operation that waits for it
  bool downgraded = false;            ///< a WRITE or a READ; it may differ between servers
  /// The submitter has not received the outcome.
  [[nodiscard]] bool awaited() const noexcept { return asked != nullptr; }
  std::list<Operation>::iterator place{};  ///< its position in the list of operations
};

}  // namespace latchkey::inline v1::detail::quorum

// One request on its way to several servers.
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

namespace latchkey::detail::quorum {

struct Operation;

/// One server's part of it.
struct SubRequest : Request {
  Operation* of = nullptr;
  std::size_t server = 0;
  /// Of a READ: a look at the gate goes before the acquire, in the same write (quorum_holds.cpp).
  enum class Part : std::uint8_t { main, enters_gate, leaves_gate } part = Part::main;
  bool sent_out = false;  ///< this server is asked
  bool answered = false;
};

/// Lives until every server that was asked has been completed, long after it was decided.
struct Operation {
  Operation(Verb what, std::size_t servers) : ballot(what, servers), sub_requests(servers) {}

  Request* asked = nullptr;  ///< null: the quorum's own, of which nobody is told
  Sink* sink = nullptr;
  HoldId id;    ///< the submitter's
  HoldId wire;  ///< the servers'
  std::string key;
  std::chrono::milliseconds lease{};
  Clock::time_point deadline = Clock::never();
  std::string patience{};  ///< what is said of a server that lets it pass
  Ballot ballot;
  std::vector<SubRequest> sub_requests;
  std::string gate{};                 ///< the gate's key; empty: it is not looked at
  std::vector<SubRequest> at_gate{};  ///< two for each server
  std::vector<bool> shut{};           ///< by server: a WRITE waits there
  bool is_gate = false;               ///< a WRITE shuts or opens it
  std::size_t open = 0;               ///< sub-requests without an answer
  bool decided = false;
  /// Decided, and told once what it was granted is given back, or at its deadline.
  Outcome outcome{};
  std::size_t giving_back = 0;        ///< releases that are waited for
  Operation* released_for = nullptr;  ///< a release: who waits for it
  bool downgraded = false;            ///< a WRITE or a READ, on each server one of them
  /// Its submitter has not been told.
  [[nodiscard]] bool awaited() const noexcept { return asked != nullptr; }
  std::list<Operation>::iterator place{};  ///< where it stands among all
};

}  // namespace latchkey::detail::quorum

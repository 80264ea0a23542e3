// One request on its way to several servers.
#pragma once

#include <chrono>
#include <cstddef>
#include <list>
#include <string>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/clock.hpp>

#include "quorum/ballot.hpp"

namespace latchkey::detail::quorum {

struct Operation;

/// One server's part of it.
struct Errand : Request {
  Operation* of = nullptr;
  std::size_t server = 0;
  bool sent_out = false;  ///< this server is asked
  bool answered = false;
};

/// Lives until every server that was asked has been completed, long after it was decided.
struct Operation {
  Operation(Verb what, std::size_t servers) : ballot(what, servers), errands(servers) {}

  Request* asked = nullptr;  ///< null: the quorum's own, of which nobody is told
  Sink* sink = nullptr;
  HoldId id;    ///< the submitter's
  HoldId wire;  ///< the servers'
  std::string key;
  std::chrono::milliseconds lease{};
  Clock::time_point deadline = Clock::never();
  std::string patience{};  ///< what is said of a server that lets it pass
  Ballot ballot;
  std::vector<Errand> errands;
  std::size_t open = 0;  ///< errands without an answer
  bool decided = false;
  std::list<Operation>::iterator place{};  ///< where it stands among all
};

}  // namespace latchkey::detail::quorum

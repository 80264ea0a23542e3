// One request on its way through the simulated network.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <vector>

#include <latchkey/backend.hpp>

#include "redis/protocol/check_answers.hpp"

namespace latchkey::inline v1::sim {

/// The network's copy of a request. The original belongs to the submitter again once it is
/// completed; the copy may reach the store later, or twice.
struct Packet {
  Request request;
  std::vector<Member> members;  // those of an acquire_all
  Request* original = nullptr;  // null once completed
  Outcome outcome;
  std::vector<std::uint32_t> together;    // the checks of a batch, of which this one is the first
  detail::redis::CheckAnswers answers{};  // to them
  std::uint32_t client = 0;
  std::uint32_t events = 0;  // scheduled events that refer to it
  std::uint64_t epoch = 0;   // its connection's epoch when it was submitted
  bool applied = false;      // the store carried it out
  bool dropped = false;      // it never reaches the store
};

}  // namespace latchkey::inline v1::sim

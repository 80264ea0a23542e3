// One request on its way through the simulated network.
#pragma once

#include <cstdint>
#include <vector>

#include <latchkey/backend.hpp>

namespace latchkey::sim {

/// The network's copy of a request: the original is the submitter's again once it is completed, the
/// copy may reach the store later, or twice.
struct Packet {
  Request request;
  std::vector<Member> members;  // acquire_all: its own
  Request* original = nullptr;  // null once completed
  Outcome outcome;
  std::uint32_t client = 0;
  std::uint32_t key = 0;
  std::uint32_t due = 0;  // appointments that name it
  std::uint64_t epoch = 0;
  bool applied = false;
  bool dropped = false;
};

}  // namespace latchkey::sim

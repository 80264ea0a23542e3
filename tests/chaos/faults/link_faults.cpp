// Begins and ends the faults of a worker's connection.
// SPDX-License-Identifier: BSL-1.0
#include <poll.h>

#include "chaos/faults/fault_injector.hpp"

namespace latchkey::chaos {
namespace {

using tests::FaultProxy;
using enum FaultKind;
constexpr auto to_server = FaultProxy::Direction::to_server;
constexpr auto to_client = FaultProxy::Direction::to_client;

void pass_both(FaultProxy& link) {
  link.pass(to_server);
  link.pass(to_client);
}

}  // namespace

void FaultInjector::begin_at_link(const PlannedFault& fault, FaultProxy& link) {
  switch (fault.kind) {
    case link_mute: return link.freeze(to_client);
    case link_half_open: link.drop(to_server); return link.drop(to_client);
    case link_bytewise: link.fragment(to_server, 1); return link.fragment(to_client, 1);
    case link_cut: return link.cut();
    case link_cut_mid_reply:
      return link.cut_after(to_client, static_cast<std::size_t>(fault.strength));
    case link_refused: link.refuse(true); return link.cut();
    case link_slow:
      link.delay(to_server, std::chrono::milliseconds(fault.strength));
      return link.delay(to_client, std::chrono::milliseconds(fault.strength));
    case link_late_delivery:
      link.hold(to_server);
      ::poll(nullptr, 0, fault.strength);  // requests that the worker sends meanwhile arrive late
      return link.cut_clients();
    default: return;
  }
}

void FaultInjector::end_at_link(const PlannedFault& fault, FaultProxy& link) {
  switch (fault.kind) {
    case link_half_open:  // TCP never continues after a gap: these connections end
      link.refuse(true);
      link.cut();
      pass_both(link);
      return link.refuse(false);
    case link_refused: return link.refuse(false);
    case link_mute:
    case link_bytewise:
    case link_cut_mid_reply:
    case link_slow:
    case link_late_delivery: return pass_both(link);
    default: return;
  }
}

}  // namespace latchkey::chaos

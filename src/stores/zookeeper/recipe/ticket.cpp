// Who waits for whom in a lock's queue.
// SPDX-License-Identifier: BSL-1.0
#include "stores/zookeeper/recipe/ticket.hpp"

#include <algorithm>

namespace latchkey::inline v1::detail::zookeeper {

Predecessor predecessor(const std::vector<Ticket>& tickets, const Ticket& own) noexcept {
  using Kind = Ticket::Kind;
  const bool reads = own.kind == Kind::read;
  const Ticket* nearest = nullptr;
  std::size_t before = 0;
  for (const Ticket& one : tickets) {
    if (!precedes(one.order, own.order)) continue;
    ++before;
    if (reads && one.kind == Kind::read) continue;
    if (nearest == nullptr || precedes(nearest->order, one.order)) nearest = &one;
  }
  return {nearest, before == 1 && nearest != nullptr && nearest->kind != Kind::write};
}

std::vector<const Ticket*> holders(const std::vector<Ticket>& tickets) {
  std::vector<const Ticket*> all;
  for (const Ticket& one : tickets) {
    if (predecessor(tickets, one).ticket == nullptr) all.push_back(&one);
  }
  return all;
}

void sort_tickets(std::vector<Ticket>& tickets) {
  std::ranges::sort(tickets, precedes, &Ticket::order);
}

}  // namespace latchkey::inline v1::detail::zookeeper

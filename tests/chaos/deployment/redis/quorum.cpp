// A quorum of three Redis servers.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/deployment/redis/quorum.hpp"

#include <array>
#include <cstddef>

namespace latchkey::chaos {

Quorum::Quorum() : second_(persistent()), third_(persistent()) {}

std::vector<const tests::RedisServer*> Quorum::servers() const {
  std::vector<const tests::RedisServer*> all = SingleServer::servers();
  all.insert(all.end(), {&second_, &third_});
  return all;
}

std::string Quorum::uri(std::uint16_t port) const {
  return "quorum: " + SingleServer::uri(port) + ' ' + second_.tcp_uri() + ' ' + third_.tcp_uri();
}

bool Quorum::offers(LockType type) const noexcept {
  return type == LockType::REENTRANT || type == LockType::READ || type == LockType::WRITE;
}

unsigned Quorum::excuses(const PlannedFault& fault) const {
  if (is_of_client(fault.kind)) return SingleServer::excuses(fault);
  return impairs | (traits(fault.kind).has(forgets) ? may_forget : nothing);
}

tests::RedisServer& Quorum::member(const PlannedFault& fault) noexcept {
  const std::array all{&server(), &second_, &third_};
  return *all[static_cast<std::size_t>(fault.strength) % all.size()];
}

void Quorum::begin(const PlannedFault& fault) {
  switch (fault.kind) {
    case FaultKind::member_stop: return member(fault).stop();
    case FaultKind::member_kill: return member(fault).kill();
    default: return SingleServer::begin(fault);
  }
}

void Quorum::end(const PlannedFault& fault) {
  if (!is_of_member(fault.kind)) return SingleServer::end(fault);
  member(fault).serve_again();
}

}  // namespace latchkey::chaos

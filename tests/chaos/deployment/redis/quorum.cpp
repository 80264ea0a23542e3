// A quorum of three Redis servers.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/deployment/redis/quorum.hpp"

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

}  // namespace latchkey::chaos

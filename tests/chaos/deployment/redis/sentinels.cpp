// A master, its replicas, and sentinels.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/deployment/redis/sentinels.hpp"

#include <poll.h>

#include <utility>

namespace latchkey::chaos {

using enum FaultKind;

namespace {

/// A master that is silent for so long is replaced. A busy machine may stop one for half a second.
constexpr std::chrono::milliseconds down_after{1'000};

bool may_replace_master(FaultKind kind) noexcept {
  return kind == failover || kind == master_kill || kind == master_stop_short ||
         kind == master_stop_long;
}

}  // namespace

Sentinels::Sentinels(int min_replicas)
    : min_replicas_(min_replicas),
      group_({.replicas = replicas,
              .sentinels = sentinels,
              .down_after = down_after,
              .config = {"appendonly yes", "appendfsync no"}}),
      master_port_(group_.master_port()) {}

std::vector<const tests::RedisServer*> Sentinels::servers() const {
  std::vector<const tests::RedisServer*> all;
  for (std::size_t index = 0; index < group_.size(); ++index) all.push_back(&group_.server(index));
  return all;
}

std::string Sentinels::uri(std::uint16_t /*port*/) const {
  return group_.uri() + "?min_replicas=" + std::to_string(min_replicas_);
}

bool Sentinels::has(FaultKind kind) const noexcept {
  switch (kind) {
    case failover:
    case master_kill:
    case master_stop_short:
    case master_stop_long:
    case replica_stop:
    case replica_kill:
    case kill_replicas:
    case sentinel_stop:
    case sentinel_kill:
    case flushall:
    case script_flush:
    case max_memory:
    case no_replicas:
    case forbidden_command:
    case pattern_subscriber:
    case session_settings:
    case wrong_type:
    case delete_key:
    case forced_release:
    case revocation:
    case delete_watched: return true;
    default: return is_of_client(kind);
  }
}

unsigned Sentinels::excuses(const PlannedFault& fault) const {
  unsigned all = RedisDeployment::excuses(fault);
  const bool keeps_data = !replaced_ || min_replicas_ == replicas;
  if (may_replace_master(fault.kind) && keeps_data) all &= ~static_cast<unsigned>(may_forget);
  const bool lacks_replicas =
      fault.kind == replica_stop || fault.kind == replica_kill || fault.kind == kill_replicas;
  if (lacks_replicas && min_replicas_ > 0) all |= impairs;
  return all;
}

std::optional<FaultKind> Sentinels::surprise() {
  group_.wait_until_ready();
  note_master();
  replaced_ = std::exchange(surprised_, false);
  return replaced_ ? std::optional(failover) : std::nullopt;
}

void Sentinels::note_master() {
  const std::uint16_t port = group_.master_port();
  if (port == 0 || port == master_port_) return;
  master_port_ = port;
  surprised_ = true;
}

tests::RedisServer& Sentinels::replica(const PlannedFault& fault) {
  std::vector<tests::RedisServer*> all;
  for (std::size_t index = 0; index < group_.size(); ++index) {
    if (&group_.server(index) != &master()) all.push_back(&group_.server(index));
  }
  return *all.at(static_cast<std::size_t>(fault.strength) % all.size());
}

// One is left, which is enough.
void Sentinels::stop_sentinels(const PlannedFault& fault) {
  const int count = 1 + fault.strength % (sentinels - 1);
  for (int index = 0; index < count; ++index) {
    group_.sentinel(static_cast<std::size_t>(fault.strength + index) % sentinels).stop();
  }
}

void Sentinels::begin(const PlannedFault& fault) {
  note_master();
  switch (fault.kind) {
    case failover: group_.fail_over(); return;
    case master_kill: return master().kill();
    case master_stop_short:
    case master_stop_long: return master().stop();
    case replica_stop: return replica(fault).stop();
    case replica_kill: return replica(fault).kill();
    case sentinel_stop: return stop_sentinels(fault);
    case sentinel_kill:
      return group_.sentinel(static_cast<std::size_t>(fault.strength) % sentinels).kill();
    case forced_release: return force_release(group_.uri(), fault);
    default: return begin_on(master(), fault);
  }
}

void Sentinels::end(const PlannedFault& fault) {
  switch (fault.kind) {
    case master_kill: group_.wait_for_election(master_port_); return restore();
    case master_stop_long: group_.wait_for_election(master_port_); return thaw(fault);
    case failover:
    case master_stop_short:
    case replica_stop:
    case replica_kill:
    case kill_replicas:
    case sentinel_stop:
    case sentinel_kill: return restore();
    default: return end_on(master(), fault);
  }
}

// The old master serves on, with its old data, until a sentinel notices.
void Sentinels::thaw(const PlannedFault& fault) {
  master().resume();
  ::poll(nullptr, 0, fault.strength);
  restore();
}

void Sentinels::restore() {
  group_.restore();
  const std::uint16_t before = std::exchange(master_port_, group_.master_port());
  replaced_ = master_port_ != before;
}

}  // namespace latchkey::chaos

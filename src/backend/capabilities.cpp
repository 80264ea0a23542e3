// Which lock types and leases a backend offers.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/capabilities.hpp>

namespace latchkey::inline v1 {
namespace {

using std::chrono::milliseconds;

std::string text_of(milliseconds time) {
  const bool whole_seconds = time % std::chrono::seconds(1) == time.zero();
  return whole_seconds ? std::to_string(time.count() / 1000) + " s"
                       : std::to_string(time.count()) + " ms";
}

}  // namespace

bool Capabilities::offers(LockType type) const noexcept {
  switch (type) {
    case LockType::REENTRANT: return reentrant;
    case LockType::FAIR: return fair;
    case LockType::READ:
    case LockType::WRITE: return read_write;
    case LockType::FENCED: return fenced;
    case LockType::PERMIT: return permits;
  }
  return false;
}

std::string Capabilities::why_no_token(LockType type) const {
  const bool alone = type == LockType::REENTRANT || type == LockType::FENCED;
  if (is_shared(type) ? false : alone ? fenced : tokens) return {};
  const std::string given = "gives no fencing token to " + std::string(to_string(type));
  if (is_shared(type)) return given + ", which several owners hold at a time: say WRITE";
  return given + (fenced ? ", only to FENCED: say FENCED" : " locks");
}

std::string Capabilities::why_no_cache() const {
  if (recalls || one_process) return {};
  return "does not tell of those who wait for an idle lock; a Redis 7.0.5 or later does, with "
         "Options::watch_holds, without min_replicas, for a user who may use CLIENT TRACKING";
}

std::string Capabilities::why_no_delay(milliseconds lease, milliseconds delay) const {
  if (delay == delay.zero()) return {};
  if (lifetime == Lifetime::per_session) {
    return "keeps no lock_delay: its holds end with the session of their process, whatever their "
           "lease; say none, or use a store whose holds end with their lease, as redis: and "
           "postgresql: do";
  }
  if (lease <= max_lease - delay) return {};
  return "offers no lease of " + text_of(lease + delay) +
         ", which the lease and its lock_delay are together: its longest is " + text_of(max_lease);
}

std::string Capabilities::why_not(milliseconds lease) const {
  if (offers(lease)) return {};
  const std::string offered = "offers no lease of " + text_of(lease) + ": ";
  if (lease < min_lease) return offered + "its least is " + text_of(min_lease);
  if (lease % lease_granularity != lease.zero()) {
    return offered + "its leases are multiples of " + text_of(lease_granularity);
  }
  if (lifetime == Lifetime::per_session) {
    return offered + "its session lasts " + text_of(max_lease) +
           ", and no hold outlives it; ask for a longer session in the URI or a shorter lease";
  }
  return offered + "its longest is " + text_of(max_lease);
}

}  // namespace latchkey::inline v1

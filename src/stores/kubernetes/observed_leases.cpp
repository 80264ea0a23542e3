// When this process has last seen each Lease change.
// SPDX-License-Identifier: BSL-1.0
#include "stores/kubernetes/observed_leases.hpp"

#include "core/text/number.hpp"

namespace latchkey::inline v1::detail::kubernetes {

bool is_not_after(const std::string& one, const std::string& other) noexcept {
  std::uint64_t first = 0, second = 0;
  const bool known =
      read_number(std::string_view(one), first) && read_number(std::string_view(other), second);
  return known ? first <= second : one == other;
}

void ObservedLeases::see(const LeaseObject& lease, TimePoint now) {
  const auto [found, is_new] =
      seen_.try_emplace(lease.name, Seen{lease.version, lease.record, now});
  Seen& seen = found->second;
  if (is_new) return;
  if (seen.record != lease.record) seen = {{}, lease.record, now};
  seen.version = lease.version;
}

void ObservedLeases::hear(const LeaseObject& lease, TimePoint now) {
  const auto found = seen_.find(lease.name);
  if (found != seen_.end() && is_not_after(lease.version, found->second.version)) return;
  see(lease, now);
}

Standing ObservedLeases::standing(const std::string& name, std::string_view id,
                                  TimePoint now) const {
  const auto found = seen_.find(name);
  if (found == seen_.end() || found->second.record.holder.empty()) return Standing::free;
  if (end_of(found->second) <= now) return Standing::ended;
  return found->second.record.holder == id ? Standing::mine : Standing::busy;
}

Clock::duration ObservedLeases::left(const std::string& name, TimePoint now) const {
  const auto found = seen_.find(name);
  if (found == seen_.end()) return {};
  const TimePoint end = end_of(found->second);
  return end > now ? end - now : Clock::duration{};
}

}  // namespace latchkey::inline v1::detail::kubernetes

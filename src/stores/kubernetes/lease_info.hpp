// The times of Leases, by the clock of this machine.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>

#include <latchkey/lock_info.hpp>

#include "stores/kubernetes/lease.hpp"

namespace latchkey::inline v1::detail::kubernetes {

/// The time of a write. It differs from that of the version before it, so that each write changes
/// the record: other candidates see by that that the holder lives.
[[nodiscard]] std::string stamp_after(const std::string& before);

/// Fills `info` with what the Lease says. The rest of its duration is an estimate by the clocks of
/// two machines.
void describe(const LeaseRecord& record, LockInfo& info);
/// Whether somebody holds it, by the same estimate.
[[nodiscard]] bool seems_held(const LeaseRecord& record);

}  // namespace latchkey::inline v1::detail::kubernetes

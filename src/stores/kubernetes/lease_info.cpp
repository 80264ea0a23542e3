// The times of Leases, by the clock of this machine.
// SPDX-License-Identifier: BSL-1.0
#include "stores/kubernetes/lease_info.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace latchkey::inline v1::detail::kubernetes {
namespace {

WallTime wall_now() {
  return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
}

std::chrono::milliseconds estimated_left(const LeaseRecord& record) {
  const std::chrono::seconds duration(record.seconds);
  const auto renewed = wall_time_of(record.renewed);
  if (!renewed) return duration;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*renewed + duration - wall_now());
  return std::clamp(left, std::chrono::milliseconds(0), std::chrono::milliseconds(duration));
}

}  // namespace

std::string stamp_after(const std::string& before) {
  WallTime now = wall_now();
  if (text_of(now) == before) now += std::chrono::microseconds(1);
  return text_of(now);
}

bool seems_held(const LeaseRecord& record) {
  return !record.holder.empty() && estimated_left(record).count() > 0;
}

void describe(const LeaseRecord& record, LockInfo& info) {
  if (record.transitions > 0) info.fencing_token = static_cast<std::uint64_t>(record.transitions);
  info.locked = seems_held(record);
  if (!info.locked) return;
  HolderInfo holder;
  holder.id = record.holder;
  holder.left = estimated_left(record);
  info.holders.push_back(std::move(holder));
}

}  // namespace latchkey::inline v1::detail::kubernetes

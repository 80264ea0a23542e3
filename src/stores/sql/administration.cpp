// Fills the answers to an inspection and to a listing from the rows of a database.
// SPDX-License-Identifier: BSL-1.0
#include "stores/sql/administration.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "backend/refusals.hpp"

namespace latchkey::inline v1::detail::sql {
namespace {

/// How many holders of a semaphore an inspection reports at most.
constexpr std::size_t most_holders = 1'000;

std::int64_t permits_of(std::int64_t number) noexcept {
  return std::clamp<std::int64_t>(number, 0, std::numeric_limits<std::uint32_t>::max());
}

}  // namespace

Inspection::Inspection(const Request& request) : request_(request) { info_.key = request.key; }

void Inspection::add_hold(LockType type, std::string_view owner, std::chrono::milliseconds left,
                          std::string_view note) {
  info_.locked = true;
  info_.type = type;
  if (type == LockType::PERMIT && info_.holders.size() == most_holders) return;
  HolderInfo& holder = info_.holders.emplace_back();
  holder.id = owner;
  holder.left = left;
  holder.announced = note;
}

void Inspection::add_permits(std::int64_t count, std::string_view owner,
                             std::chrono::milliseconds left, std::string_view note) {
  taken_ += permits_of(count);
  add_hold(LockType::PERMIT, owner, left, note);
}

void Inspection::set_total(std::int64_t permits) noexcept {
  info_.type = LockType::PERMIT;
  total_ = permits_of(permits);
}

Outcome Inspection::finish() {
  if (total_ > 0) info_.permits = PermitInfo{total_ - taken_, total_};
  const bool is_other = request_.type == LockType::PERMIT && !info_.permits;
  const bool is_lock = is_other && info_.locked;
  if (request_.info != nullptr) *request_.info = std::move(info_);
  if (is_lock) return refusal(key_is_a_lock);
  Outcome outcome;
  outcome.kind = is_other ? Outcome::Kind::gone : Outcome::Kind::granted;
  return outcome;
}

void finish_listing(const Request& request, std::size_t examined) noexcept {
  if (request.part == nullptr) return;
  request.part->cursor = {};
  request.part->examined = request.part->total = examined;
}

}  // namespace latchkey::inline v1::detail::sql

// The state of a lock as text, for people and for programs.
// SPDX-License-Identifier: BSL-1.0
#include "cli/look/lock_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace latchkey::inline v1::cli {

using std::chrono::milliseconds;

std::string duration_text(const std::optional<milliseconds>& length) {
  if (!length) return "no end";
  if (*length < std::chrono::seconds(1)) return fmt::format("{} ms", length->count());
  return fmt::format("{:.1f} s", std::chrono::duration<double>(*length).count());
}

std::optional<std::uint64_t> waiters(const LockInfo& info) {
  if (!info.subscribers && info.queue.empty()) return std::nullopt;
  return std::max<std::uint64_t>(info.queue.size(), info.subscribers.value_or(0));
}

std::string lock_text(const LockInfo& info) {
  std::string text = fmt::format(
      "{}: {}\n", info.key,
      info.locked ? fmt::format("locked, {}", to_string(info.type)) : std::string("not locked"));
  for (const HolderInfo& holder : info.holders) {
    text += fmt::format("  held by {}, {} left", holder.id, duration_text(holder.left));
    if (holder.count != 1) text += fmt::format(", {} times", holder.count);
    if (!holder.announced.empty()) text += fmt::format(": {}", holder.announced);
    text += '\n';
  }
  if (const auto waiting = waiters(info); waiting.value_or(0) > 0) {
    text += fmt::format("  {} waiting\n", *waiting);
  }
  for (const std::string& waiter : info.queue) text += fmt::format("  queued: {}\n", waiter);
  if (info.fencing_token) text += fmt::format("  last fencing token: {}\n", *info.fencing_token);
  return text;
}

std::string lock_json(const LockInfo& info) {
  nlohmann::ordered_json holders = nlohmann::ordered_json::array();
  for (const HolderInfo& holder : info.holders) {
    nlohmann::ordered_json one{{"id", holder.id}, {"count", holder.count}};
    one["lease_left_ms"] = nullptr;
    if (holder.left) one["lease_left_ms"] = holder.left->count();
    one["announced"] = holder.announced;
    holders.push_back(std::move(one));
  }
  nlohmann::ordered_json json{{"key", info.key}, {"locked", info.locked}};
  json["type"] = nullptr;
  if (info.locked) json["type"] = to_string(info.type);
  json["holders"] = std::move(holders);
  json["waiters"] = nullptr;
  if (const auto waiting = waiters(info)) json["waiters"] = *waiting;
  json["queue"] = info.queue;
  json["fencing_token"] = nullptr;
  if (info.fencing_token) json["fencing_token"] = *info.fencing_token;
  // Keys are bytes: invalid UTF-8 becomes the replacement character.
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace latchkey::inline v1::cli

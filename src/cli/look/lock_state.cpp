// The state of locks: queried from the backend, and spelled for a user or a program.
// SPDX-License-Identifier: BSL-1.0
#include "cli/look/lock_state.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <latchkey/error.hpp>

#include "cli/output.hpp"
#include "core/text/printable.hpp"

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

std::string_view type_text(const LockInfo& info) {
  if (info.type != LockType::REENTRANT) return to_string(info.type);
  if (!info.queue.empty()) return to_string(LockType::FAIR);
  return to_string(info.fencing_token ? LockType::FENCED : LockType::REENTRANT);
}

namespace {

std::string state_text(const LockInfo& info) {
  if (info.permits) {
    return fmt::format("a semaphore, {} of {} permits are taken",
                       info.permits->total - info.permits->available, info.permits->total);
  }
  return info.locked ? fmt::format("locked, {}", type_text(info)) : std::string("not locked");
}

/// When a holder learns that its lock was taken away. It checks at each third of its lease, whose
/// length nobody else knows, and gives up at the latest at its end.
std::string notice_text(const HolderInfo& holder, Notice notice) {
  std::string text = notice == Notice::pushed ? "usually within milliseconds" : "at its next check";
  if (holder.left) text += ", at the latest in " + duration_text(holder.left);
  return text;
}

}  // namespace

Notice notice_of(const Locks& locks, const LockInfo& info) {
  return locks.capabilities().watches && !info.permits ? Notice::pushed : Notice::checked;
}

std::string lock_text(const LockInfo& info, Notice notice) {
  std::string text = fmt::format("{}: {}\n", detail::printable(info.key), state_text(info));
  for (const HolderInfo& holder : info.holders) {
    text += fmt::format("  held by {}, {} left", detail::printable(holder.id),
                        duration_text(holder.left));
    if (holder.count != 1) text += fmt::format(", {} times", holder.count);
    if (holder.revoked) {
      text += fmt::format(", asked to release it {} ago", duration_text(holder.revoked));
    }
    if (!holder.announced.empty()) text += fmt::format(": {}", detail::printable(holder.announced));
    text += fmt::format("\n    it would notice an unlock {}\n", notice_text(holder, notice));
  }
  if (const auto waiting = waiters(info); waiting.value_or(0) > 0) {
    text += fmt::format("  {} waiting\n", *waiting);
  }
  for (const std::string& waiter : info.queue) {
    text += fmt::format("  queued: {}\n", detail::printable(waiter));
  }
  if (info.fencing_token) text += fmt::format("  last fencing token: {}\n", *info.fencing_token);
  return text;
}

std::string taken_text(const LockInfo& before, std::string_view owner, Notice notice) {
  std::string text;
  for (const HolderInfo& holder : before.holders) {
    if (!owner.empty() && holder.id != owner) continue;
    const std::string& who = holder.announced.empty() ? holder.id : holder.announced;
    text += fmt::format(
        "{}: taken from {}, which notices it {}; then its hold is lost: a program gets a LockLost "
        "and the stop of its stop token, a command of latchkey run is ended\n",
        detail::printable(before.key), detail::printable(who), notice_text(holder, notice));
  }
  return text;
}

std::string asked_text(const LockInfo& before, std::size_t told) {
  std::string text =
      fmt::format("{}: asked {} {} to release it; nobody is forced\n",
                  detail::printable(before.key), told, told == 1 ? "process" : "processes");
  for (const HolderInfo& holder : before.holders) {
    text += fmt::format("  held by {}", detail::printable(holder.id));
    if (!holder.announced.empty()) text += fmt::format(": {}", detail::printable(holder.announced));
    text += '\n';
  }
  return text;
}

std::string lock_json(const LockInfo& info) {
  nlohmann::ordered_json holders = nlohmann::ordered_json::array();
  for (const HolderInfo& holder : info.holders) {
    nlohmann::ordered_json one{{"id", holder.id}, {"count", holder.count}};
    one["lease_left_ms"] = nullptr;
    if (holder.left) one["lease_left_ms"] = holder.left->count();
    one["announced"] = holder.announced;
    one["revoked_ms"] = nullptr;
    if (holder.revoked) one["revoked_ms"] = holder.revoked->count();
    holders.push_back(std::move(one));
  }
  nlohmann::ordered_json json{{"key", info.key}, {"locked", info.locked}};
  json["type"] = nullptr;
  if (info.locked || info.permits) json["type"] = type_text(info);
  json["holders"] = std::move(holders);
  json["waiters"] = nullptr;
  if (const auto waiting = waiters(info)) json["waiters"] = *waiting;
  json["queue"] = info.queue;
  json["fencing_token"] = nullptr;
  if (info.fencing_token) json["fencing_token"] = *info.fencing_token;
  json["permits"] = nullptr;
  if (info.permits) {
    json["permits"] = {{"available", info.permits->available}, {"total", info.permits->total}};
  }
  return json_line(json);
}

// A backend refuses to describe a semaphore as a lock, and says so in words of its own.
LockInfo inspect(const Locks& locks, const std::string& key) {
  try {
    return locks.inspect(key);
  } catch (const BackendRefused&) {
    if (!locks.capabilities().permits) throw;
    constexpr int any_number = 1;  // the size of a semaphore that would be made
    try {
      LockInfo info = locks.semaphore(key, any_number).inspect();
      if (info.permits) return info;
    } catch (const BackendRefused&) {  // neither: the first refusal says why
    }
    throw;
  }
}

std::vector<LockInfo> inspect_each(const Locks& locks, std::span<const std::string> keys,
                                   const std::function<void(std::string_view why)>& refused) {
  try {
    return locks.inspect_all(keys);
  } catch (const BackendRefused&) {  // at least one of them
  }
  std::vector<LockInfo> infos;
  for (const std::string& key : keys) {
    try {
      infos.push_back(inspect(locks, key));
    } catch (const BackendRefused& error) {
      refused(error.what());
    }
  }
  return infos;
}

}  // namespace latchkey::inline v1::cli

// Decodes the replies of inspect and list.
// SPDX-License-Identifier: BSL-1.0

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "redis/protocol/owner_format.hpp"
#include "redis/protocol/reply.hpp"
#include "redis/protocol/script_call.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

using Replies = std::span<redisReply* const>;

std::uint64_t count_of(const redisReply& reply) noexcept {
  return static_cast<std::uint64_t>(std::max(reply.integer, 0LL));
}

/// {owner, count, ms, note, ...}
void read_holders(Replies replies, LockInfo& info) {
  for (std::size_t at = 0; at + 3 < replies.size(); at += 4) {
    info.holders.push_back({owner_of(*replies[at]),
                            static_cast<std::uint32_t>(replies[at + 1]->integer),
                            time_left(replies[at + 2]->integer),
                            std::string(text_of(*replies[at + 3])),
                            {}});
  }
  info.locked = !info.holders.empty();
}

/// {ms, ...}, by holder; -1: it was not asked
void read_revoked(Replies replies, LockInfo& info) {
  const std::size_t count = std::min(replies.size(), info.holders.size());
  for (std::size_t at = 0; at < count; ++at) {
    const long long ago = replies[at]->integer;
    if (ago >= 0) info.holders[at].revoked = std::chrono::milliseconds(ago);
  }
}

/// {cursor, name, ...}
void read_page(const redisReply& reply, std::vector<std::string>& names) {
  for (const redisReply* const name : elements_of(reply).subspan(1)) {
    names.emplace_back(text_of(*name));
  }
  if (list_cursor(reply) == 0) {
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }
}

/// {cursor, number of keys, name, ...}, or if awaited {0, number of keys, name, waiters, ...}
void read_part(const redisReply& reply, ListPart& part, std::vector<std::string>& names) {
  const Replies replies = elements_of(reply);
  part.cursor.position = list_cursor(reply);
  part.total = count_of(*replies[1]);
  part.examined = part.awaited ? 0 : part.budget;
  for (std::size_t at = 2; at < replies.size(); ++at) {
    names.emplace_back(text_of(*replies[at]));
    if (!part.awaited) continue;
    ++at;
    part.waiters.push_back(at < replies.size() ? count_of(*replies[at]) : 0);
  }
}

}  // namespace

// {mode, token, holders, {owner, ...}, subscribers, revoked}
bool read_info(const redisReply& reply, LockInfo& info) {
  const Replies replies = elements_of(reply);
  if (replies.size() < 4) return false;
  const std::string_view mode = text_of(*replies[0]), token = text_of(*replies[1]);
  info.type = mode == "read"    ? LockType::READ
              : mode == "write" ? LockType::WRITE
                                : LockType::REENTRANT;
  std::uint64_t last = 0;
  if (std::from_chars(token.data(), token.data() + token.size(), last).ptr != token.data()) {
    info.fencing_token = last;
  }
  read_holders(elements_of(*replies[2]), info);
  for (const redisReply* const waiter : elements_of(*replies[3])) {
    info.queue.emplace_back(text_of(*waiter));
  }
  const bool counted = replies.size() > 4 && replies[4]->integer >= 0;
  if (counted) info.subscribers = count_of(*replies[4]);
  if (replies.size() > 5) read_revoked(elements_of(*replies[5]), info);
  return true;
}

// {available, total, subscribers, revoked, id, ms left, ...}
bool read_permits(const redisReply& reply, LockInfo& info) {
  const Replies replies = elements_of(reply);
  if (replies.size() < 4) return false;
  info.type = LockType::PERMIT;
  info.permits = PermitInfo{replies[0]->integer, replies[1]->integer};
  if (replies[2]->integer >= 0) info.subscribers = count_of(*replies[2]);
  for (std::size_t at = 4; at + 1 < replies.size(); at += 2) {
    HolderInfo& its = info.holders.emplace_back();
    its.id = PermitId::text_of(text_of(*replies[at]));
    its.left = time_left(replies[at + 1]->integer);
  }
  read_revoked(elements_of(*replies[3]), info);
  info.locked = !info.holders.empty();
  return true;
}

bool read_names(const redisReply& reply, const Request& request) {
  const Replies replies = elements_of(reply);
  if (replies.size() < (request.part == nullptr ? 1U : 2U)) return false;
  if (request.part == nullptr) {
    read_page(reply, *request.names);
  } else {
    read_part(reply, *request.part, *request.names);
  }
  return true;
}

std::uint64_t list_cursor(const redisReply& reply) noexcept {
  const Replies replies = elements_of(reply);
  if (replies.empty()) return 0;
  const std::string_view text = text_of(*replies[0]);
  std::uint64_t cursor = 0;
  std::from_chars(text.data(), text.data() + text.size(), cursor);
  return cursor;
}

}  // namespace latchkey::inline v1::detail::redis

// The guard in Redis, on a connection of hiredis that is the caller's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <hiredis/hiredis.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/fence.hpp>
#include <latchkey/fences/redis_script.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::redis {

struct FreeReply {
  void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};
/// A reply of hiredis that frees itself.
using ReplyPointer = std::unique_ptr<redisReply, FreeReply>;

/// Runs one command, such as {"SET", "{order:42}:total", "17"}, unless a higher token of the key
/// was seen: check and command are one step of the server. The first `keys` words after the name
/// are the keys of the command. In a cluster they have the slot of fence_key(fence), and `context`
/// is a connection to the node of that slot. Your program links hiredis, of any version since 0.13;
/// this header needs no Locks on Redis.
///
/// Returns the reply of the command. Throws FenceRejected for an old fence; the command did not run
/// then. Throws Error, with the server's words, for any other error reply, and if no reply comes,
/// after which the command may have run or not. The connection is used by one thread at a time.
///
/// Not promised: what a server forgets, such as the last moment before a failover, in which token
/// and data are lost alike.
inline ReplyPointer run_fenced(redisContext* context, const Fence& fence,
                               std::span<const std::string_view> command, std::size_t keys = 1) {
  const std::string guard = fence_key(fence), token = std::to_string(fence.token);
  if (command.empty()) detail::fence_refused(fence, "it has no words");
  keys = std::min(keys, command.size() - 1);
  const std::string count = std::to_string(1 + keys);
  std::vector<std::string_view> words{"EVAL", fence_script(), count, guard};
  for (const std::string_view key : command.subspan(1, keys)) {
    words.push_back(key);
  }
  words.push_back(token);
  words.push_back(command.front());
  for (const std::string_view word : command.subspan(1 + keys)) words.push_back(word);
  std::vector<const char*> starts;
  std::vector<std::size_t> sizes;
  for (const std::string_view word : words) {
    starts.push_back(word.data());
    sizes.push_back(word.size());
  }
  ReplyPointer reply(static_cast<redisReply*>(
      redisCommandArgv(context, static_cast<int>(words.size()), starts.data(), sizes.data())));
  if (reply == nullptr) detail::fence_without_reply(fence, context->errstr);
  if (reply->type == REDIS_REPLY_ERROR) {
    detail::fence_refused(fence,
                          std::string_view(reply->str, static_cast<std::size_t>(reply->len)));
  }
  return reply;
}

inline ReplyPointer run_fenced(redisContext* context, const Fence& fence,
                               std::initializer_list<std::string_view> command,
                               std::size_t keys = 1) {
  return run_fenced(context, fence, std::span(command.begin(), command.size()), keys);
}

}  // namespace latchkey::inline v1::redis
#pragma GCC visibility pop

// The names that a lock uses in Redis: keys, channels, owners.
// SPDX-License-Identifier: BSL-1.0
#include "redis/protocol/names.hpp"

#include <cstdint>
#include <initializer_list>

#include "core/uuid_text.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

constexpr std::array side_prefixes = {
    queue_prefix,          timeout_prefix,   token_prefix,         lock_channel_prefix,
    rw_channel_prefix,     holder_prefix,    process_queue_prefix, permit_queue_prefix,
    waiting_writer_prefix, set_token_prefix, set_channel_prefix,   revoke_channel_prefix};

std::string join(std::initializer_list<std::string_view> pieces) {
  std::string text;
  std::size_t size = 0;
  for (const std::string_view piece : pieces) size += piece.size();
  text.reserve(size);
  for (const std::string_view piece : pieces) text += piece;
  return text;
}

/// Redis hashes the text between the first `{` and the next `}`, unless it is empty.
bool has_hash_tag(std::string_view key, std::size_t open) noexcept {
  const std::size_t close = key.find('}', open);
  return close != std::string_view::npos && close > open + 1;
}

}  // namespace

LocksOfQueue::LocksOfQueue(std::string_view name) noexcept {
  const bool fair = name.starts_with(queue_prefix);
  if (!fair && !name.starts_with(process_queue_prefix)) return;
  name.remove_prefix((fair ? queue_prefix : process_queue_prefix).size());
  if (name.ends_with(':') && !fair) {
    keys[0] = name.substr(0, name.size() - 1);
    return;
  }
  const bool is_tag = name.size() > 2 && name.starts_with('{') && name.find('}') == name.size() - 1;
  keys[0] = is_tag ? name.substr(1, name.size() - 2) : name;
  if (is_tag && fair) keys[1] = name;
}

std::optional<std::string> refuse_name(std::string_view key) {
  const std::size_t open = key.find('{');
  const bool closes = key.find('}') != std::string_view::npos;
  if (open != std::string_view::npos ? !has_hash_tag(key, open) : closes) {
    return join({"the name '", key,
                 "' has braces that make no hash tag: enclose a part of it, as in {order}:42, or "
                 "use none"});
  }
  for (const std::string_view prefix : side_prefixes) {
    if (key.starts_with(prefix)) {
      return join({"the name '", key, "' begins with '", prefix,
                   "', which is reserved for the keys beside a lock: choose another"});
    }
  }
  return std::nullopt;
}

std::optional<std::string> refuse_semaphore_name(std::string_view key) {
  const bool is_tag = key.starts_with('{') && key.find('}') == key.size() - 1;
  if (!is_tag) return std::nullopt;
  return join({"the name '", key, "' is a hash tag and nothing else: the semaphore '",
               key.substr(1, key.size() - 2), "' has the same keys; say that, or ", key,
               ":permits"});
}

std::string revoke_channel_of(const Tag& tag) {
  return join({revoke_channel_prefix, tag.open(), tag.name, tag.close(), tag.braced ? ":" : ""});
}

Channels channels_of(const Request& request, const Layout& layout) {
  const std::string_view key = request.key;
  const Tag tag(key);
  Channels channels;
  if (request.latch) {
    channels.names[0] = join({latch_channel_prefix, key, "}"});
    channels.count = 1;
    return channels;
  }
  if (request.revocations) {
    channels.names[0] = revoke_channel_of(tag);
    channels.count = 1;
    return channels;
  }
  if (request.type == LockType::PERMIT) {
    channels.names[0] = join({permit_channel_prefix, tag.open(), key, tag.close()});
    channels.count = 1;
    return channels;
  }
  channels.names[0] = join({layout.channel_prefix, tag.open(), key, tag.close()});
  if (request.queues) {
    const OwnerText owner(request.id);
    channels.names[0] += ':';
    channels.names[0] += std::string_view(owner).substr(0, uuid_text_size);
    channels.count = 1;
  } else if (request.type == LockType::FAIR) {
    channels.names[1] = join({channels.names[0], ":", OwnerText(request.id)});
  } else if (layout.rw_channel_prefix.empty()) {
    channels.count = 1;
  } else {
    channels.names[1] = join({layout.rw_channel_prefix, tag.open(), key, tag.close()});
  }
  if (request.in_line) {
    const std::size_t count = channels.count;
    for (std::size_t index = 0; index < count; ++index) {
      channels.names[count + index] = join({channels.names[index], in_line_suffix});
    }
    channels.count = 2 * count;
  }
  return channels;
}

}  // namespace latchkey::inline v1::detail::redis

// Encodes requests.
// SPDX-License-Identifier: BSL-1.0
#include "redis/protocol/script_call.hpp"

#include <algorithm>
#include <cstddef>

#include "redis/protocol/owner_format.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

using enum Word;

/// Appends the words of one call.
class ArgumentWriter {
 public:
  ArgumentWriter(CommandBuffer& buffer, const Request& request, const CallSettings& settings,
                 std::uint64_t page)
      : buffer_(buffer),
        request_(request),
        settings_(settings),
        page_(page),
        tag_(request.key),
        owner_(request.id, settings.layout->owners) {}

  void write(Word word) {
    switch (word) {
      case lock:
      case pattern: return buffer_.word(request_.key);
      case queue: return derived(queue_prefix);
      case process_queue:
        return buffer_.word(
            {process_queue_prefix, tag_.open(), tag_.name, tag_.close(), tag_.braced ? ":" : ""});
      case timeouts: return derived(timeout_prefix);
      case token: return derived(settings_.layout->token_prefix);
      case plain_channel: return derived(settings_.layout->channel_prefix);
      case rw_channel: return derived(settings_.layout->rw_channel_prefix);
      case latch_channel: return buffer_.word({latch_channel_prefix, request_.key, "}"});
      case tag: return derived("");
      case reader:
        return buffer_.word({tag_.open(), tag_.name, tag_.close(), ":", owner_, reader_suffix});
      case owner: return buffer_.word(owner_);
      case writer: return buffer_.word({owner_, writer_suffix});
      case lease: return buffer_.number(request_.lease.count());
      case wait: return buffer_.number(request_.queue_wait.count());
      case queues: return buffer_.word(request_.queues ? "1" : "0");
      case renews: return buffer_.word(request_.verb == Verb::renew ? "1" : "0");
      case count:
      case tokens: return buffer_.number(std::max<std::uint32_t>(1, request_.tokens));
      case sharded:
        return buffer_.word(settings_.sharded_publish ? "1" : settings_.in_cluster ? "2" : "0");
      case plain_channels: return buffer_.word(settings_.layout->channel_prefix);
      case rw_channels: return buffer_.word(settings_.layout->rw_channel_prefix);
      case cursor:
        return buffer_.number(request_.part != nullptr ? request_.part->cursor.position : page_);
      case budget: return buffer_.number(std::max<std::uint32_t>(1, request_.part->budget));
      case permits: return buffer_.word({tag_.open(), tag_.name, tag_.close(), permits_suffix});
      case permit: return buffer_.word(PermitId(request_.id));
      case taken: return buffer_.number(request_.permits.taken);
      case total: return buffer_.number(request_.permits.total);
      case permit_channel: return derived(permit_channel_prefix);
      case revoke_channel: return buffer_.word(revoke_channel_of(tag_));
    }
  }

 private:
  void derived(std::string_view prefix) {
    buffer_.word({prefix, tag_.open(), tag_.name, tag_.close()});
  }

  CommandBuffer& buffer_;
  const Request& request_;
  const CallSettings& settings_;
  std::uint64_t page_;
  Tag tag_;
  OwnerText owner_;
};

void append(CommandBuffer& buffer, std::string_view command, std::string_view script,
            const Call& call, ArgumentWriter writer) {
  buffer.begin(3 + call.count);
  buffer.word(command);
  buffer.word(script);
  buffer.number(call.keys);
  for (std::size_t at = 0; at < call.count; ++at) writer.write(call.words[at]);
}

/// How many keys and arguments one member of an acquire_all has.
struct Extent {
  std::size_t keys;
  std::size_t words;
};
Extent extent_of(const Member& member) noexcept {
  const std::size_t tokens = member.wants_token() ? 1 : 0;
  switch (member.type) {
    case LockType::READ: return {2, 3};
    case LockType::WRITE: return {1 + tokens, 3};
    default: return {1 + tokens, 2};
  }
}

/// The type as acquire_all.lua spells it.
std::string_view word_of(const Member& member) noexcept {
  if (!member.wants_token()) return to_string(member.type);
  return member.type == LockType::WRITE ? "FENCED_WRITE" : "FENCED";
}

/// The request that acquires one member only.
Request single(const Request& request, const Member& member) noexcept {
  Request one;
  one.key = member.key;
  one.type = member.type;
  one.id = member.id;
  one.lease = request.lease;
  one.tokens = request.tokens;
  return one;
}

void append_all(CommandBuffer& buffer, std::string_view command, std::string_view script,
                const Request& request, const CallSettings& settings) {
  Extent sum{0, 2};
  for (const Member& member : request.members) {
    const Extent its = extent_of(member);
    sum.keys += its.keys;
    sum.words += its.words;
  }
  buffer.begin(3 + sum.keys + sum.words);
  buffer.word(command);
  buffer.word(script);
  buffer.number(sum.keys);
  for (const Member& member : request.members) {
    const Request one = single(request, member);
    ArgumentWriter writer(buffer, one, settings, 0);
    writer.write(lock);
    if (member.wants_token()) writer.write(token);
    if (member.type == LockType::READ) writer.write(reader);
  }
  buffer.number(request.lease.count());
  buffer.number(std::max<std::uint32_t>(1, request.tokens));
  for (const Member& member : request.members) {
    const Request one = single(request, member);
    ArgumentWriter writer(buffer, one, settings, 0);
    buffer.word(word_of(member));
    writer.write(member.type == LockType::WRITE ? Word::writer : owner);
    const bool read_write = member.type == LockType::READ || member.type == LockType::WRITE;
    if (read_write) writer.write(tag);
  }
}

}  // namespace

const Script& script_for(const Request& request, const Layout& layout) noexcept {
  if (request.verb == Verb::acquire_all) return *layout.acquire_all;
  return *layout.call_for(request).script;
}

void append_evalsha(CommandBuffer& buffer, const Request& request, const CallSettings& settings,
                    std::uint64_t cursor) {
  if (request.verb == Verb::acquire_all) {
    return append_all(buffer, "EVALSHA", settings.layout->acquire_all->sha1, request, settings);
  }
  const Call& call = settings.layout->call_for(request);
  append(buffer, "EVALSHA", call.script->sha1, call, {buffer, request, settings, cursor});
}

void append_eval(CommandBuffer& buffer, const Request& request, const CallSettings& settings,
                 std::uint64_t cursor) {
  if (request.verb == Verb::acquire_all) {
    return append_all(buffer, "EVAL", settings.layout->acquire_all->text, request, settings);
  }
  const Call& call = settings.layout->call_for(request);
  append(buffer, "EVAL", call.script->text, call, {buffer, request, settings, cursor});
}

// The note of an acquire, and of a lock that becomes idle, is stored by a script, which stores
// nothing if the lock was busy.
bool append_note(CommandBuffer& buffer, const Request& request, const Layout& layout) {
  if (request.type == LockType::PERMIT) return false;  // its holder has no name there
  const Tag tag(request.key);
  const OwnerText owner(request.id, layout.owners);
  const auto note_key = [&] {
    buffer.word({holder_prefix, tag.open(), tag.name, tag.close(), ":", owner});
  };
  const auto append_deletion = [&] {
    buffer.begin(2);
    buffer.word("DEL");
    note_key();
    return true;
  };
  const bool becomes_idle = request.recall && request.verb == Verb::expire;
  const bool is_new = request.verb == Verb::acquire || becomes_idle;
  if (is_new) {
    buffer.begin(8);
    buffer.word("EVAL");
    buffer.word(layout.announce->text);
    buffer.word("2");
    buffer.word(request.key);
    note_key();
    buffer.word({owner, request.type == LockType::WRITE ? ":write" : ""});
    buffer.word(request.note);
    buffer.number(request.lease.count());
    return true;
  }
  switch (request.verb) {
    case Verb::expire:
    case Verb::renew:
    case Verb::downgrade:
      buffer.begin(3);
      buffer.word("PEXPIRE");
      note_key();
      buffer.number(request.lease.count());
      return true;
    case Verb::release:
    case Verb::leave: return append_deletion();
    default: return false;
  }
}

}  // namespace latchkey::inline v1::detail::redis

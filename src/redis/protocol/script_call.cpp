// Encodes requests: the only place that knows the order of the scripts' arguments.
// SPDX-License-Identifier: BSL-1.0
#include "redis/protocol/script_call.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <initializer_list>

namespace latchkey::inline v1::detail::redis {
namespace {

/// The elements of KEYS and ARGV, named as in the first lines of the scripts in lua/.
enum class Word : std::uint8_t {
  lock,
  queue,
  timeouts,
  token,
  reader,  // the key that holds the lease of this owner's READ
  lease,
  owner,
  writer,  // the owner as the field of a WRITE
  wait,
  queues,
  tokens,
  tag,
  plain_channel,
  rw_channel,
  sharded,
  plain_channels,  // what the channels of all plain locks begin with
  rw_channels,
  cursor,
  pattern,
  budget,
};
using enum Word;

struct Call {
  constexpr Call(const Script& text, std::size_t key_count, std::initializer_list<Word> all)
      : script(&text), keys(key_count), count(all.size()) {
    std::copy(all.begin(), all.end(), words.begin());
  }

  const Script* script;
  std::size_t keys;  // how many of the words are KEYS; the others are ARGV
  std::size_t count;
  std::array<Word, 8> words{};
};

constexpr Call acquire(scripts::acquire, 1, {lock, lease, owner, tag, queues, sharded});
constexpr Call acquire_fair(scripts::acquire_fair, 3,
                            {lock, queue, timeouts, lease, owner, wait, plain_channel, sharded});
constexpr Call acquire_fenced(scripts::acquire_fenced, 2,
                              {lock, token, lease, owner, tokens, tag, queues, sharded});
constexpr Call acquire_read(scripts::acquire_read, 2, {lock, reader, lease, owner, tag});
constexpr Call acquire_write(scripts::acquire_write, 1,
                             {lock, lease, writer, tag, wait, queues, sharded});
constexpr Call renew(scripts::renew, 1, {lock, lease, owner});
constexpr Call renew_read(scripts::renew_read, 2, {lock, reader, lease, owner});
constexpr Call renew_write(scripts::renew, 1, {lock, lease, writer});
constexpr Call verify(scripts::verify, 1, {lock, owner});
constexpr Call verify_read(scripts::verify_read, 2, {lock, reader, owner});
constexpr Call verify_write(scripts::verify, 1, {lock, writer});
constexpr Call downgrade(scripts::downgrade, 2, {lock, reader, lease, owner, rw_channel, sharded});
constexpr Call expire(scripts::expire, 1, {lock, lease, owner});
constexpr Call expire_read(scripts::expire_read, 2, {lock, reader, lease, owner, tag});
constexpr Call expire_write(scripts::expire, 1, {lock, lease, writer});
constexpr Call release(scripts::release, 1, {lock, owner, tag, sharded});
constexpr Call release_fair(scripts::release_fair, 3,
                            {lock, queue, timeouts, owner, plain_channel, sharded});
constexpr Call release_read(scripts::release_read, 2,
                            {lock, reader, owner, tag, rw_channel, sharded});
constexpr Call release_write(scripts::release_write, 1, {lock, writer, tag, sharded});
constexpr Call leave_queue(scripts::leave, 1, {lock, owner, tag, sharded});
constexpr Call leave_queue_write(scripts::leave, 1, {lock, writer, tag, sharded});
constexpr Call leave_write(scripts::release_read, 2,
                           {lock, reader, owner, tag, rw_channel, sharded, writer});
constexpr Call leave_fair(scripts::leave_fair, 3,
                          {lock, queue, timeouts, owner, plain_channel, sharded});
constexpr Call inspect(scripts::inspect, 4,
                       {lock, queue, timeouts, token, tag, plain_channel, rw_channel, sharded});
constexpr Call list(scripts::list, 0, {cursor, pattern});
constexpr Call list_page(scripts::list_page, 0, {cursor, pattern, budget});
constexpr Call list_awaited(scripts::list_awaited, 0,
                            {pattern, budget, plain_channels, rw_channels, sharded});
constexpr Call force_release(scripts::force_release, 3,
                             {lock, queue, timeouts, tag, plain_channel, rw_channel, sharded});

/// The calls of one verb. `plain` is for REENTRANT and FENCED.
struct Calls {
  const Call* plain;
  const Call* fair;
  const Call* read;
  const Call* write;

  [[nodiscard]] const Call& of(LockType type) const noexcept {
    switch (type) {
      case LockType::FAIR: return *fair;
      case LockType::READ: return *read;
      case LockType::WRITE: return *write;
      case LockType::REENTRANT:
      case LockType::FENCED: break;
    }
    return *plain;
  }
};

constexpr Calls acquires{&acquire, &acquire_fair, &acquire_read, &acquire_write};
constexpr Calls renewals{&renew, &renew, &renew_read, &renew_write};
constexpr Calls checks{&verify, &verify, &verify_read, &verify_write};
constexpr Calls expiries{&expire, &expire, &expire_read, &expire_write};
constexpr Calls releases{&release, &release_fair, &release_read, &release_write};
constexpr Calls leaves{&release, &leave_fair, &release_read, &leave_write};
constexpr Calls leaves_of_queue{&leave_queue, &leave_fair, &release_read, &leave_queue_write};

const Call& list_for(const Request& request) noexcept {
  if (request.part == nullptr) return list;
  return request.part->awaited ? list_awaited : list_page;
}

const Call& call_for(const Request& request) noexcept {
  const LockType type = request.type;
  switch (request.verb) {
    case Verb::acquire: return type == LockType::FENCED ? acquire_fenced : acquires.of(type);
    case Verb::renew: return renewals.of(type);
    case Verb::verify: return checks.of(type);
    case Verb::downgrade: return downgrade;
    case Verb::expire: return expiries.of(type);
    case Verb::release: return releases.of(type);
    case Verb::leave: return (request.queues ? leaves_of_queue : leaves).of(type);
    case Verb::inspect: return inspect;
    case Verb::list: return list_for(request);
    case Verb::force_release: return force_release;
    case Verb::acquire_all:
    case Verb::subscribe:
    case Verb::unsubscribe: break;
  }
  assert(false && "the verb has a script");
  return verify;
}

/// Appends the words of one call.
class ArgumentWriter {
 public:
  ArgumentWriter(CommandBuffer& buffer, const Request& request, const ChannelSettings& settings,
                 std::uint64_t page)
      : buffer_(buffer),
        request_(request),
        settings_(settings),
        page_(page),
        tag_(request.key),
        owner_(request.id) {}

  void write(Word word) {
    switch (word) {
      case lock:
      case pattern: return buffer_.word(request_.key);
      case queue: return derived(queue_prefix);
      case timeouts: return derived(timeout_prefix);
      case token: return derived(token_prefix);
      case plain_channel: return derived(lock_channel_prefix);
      case rw_channel: return derived(rw_channel_prefix);
      case tag: return derived("");
      case reader:
        return buffer_.word({tag_.open(), tag_.name, tag_.close(), ":", owner_, reader_suffix});
      case owner: return buffer_.word(owner_);
      case writer: return buffer_.word({owner_, writer_suffix});
      case lease: return buffer_.number(request_.lease.count());
      case wait: return buffer_.number(request_.queue_wait.count());
      case queues: return buffer_.word(request_.queues ? "1" : "0");
      case tokens: return buffer_.number(std::max<std::uint32_t>(1, request_.tokens));
      case sharded: return buffer_.word(settings_.sharded_publish ? "1" : "0");
      case plain_channels: return buffer_.word(lock_channel_prefix);
      case rw_channels: return buffer_.word(rw_channel_prefix);
      case cursor:
        return buffer_.number(request_.part != nullptr ? request_.part->cursor.position : page_);
      case budget: return buffer_.number(std::max<std::uint32_t>(1, request_.part->budget));
    }
  }

 private:
  void derived(std::string_view prefix) {
    buffer_.word({prefix, tag_.open(), tag_.name, tag_.close()});
  }

  CommandBuffer& buffer_;
  const Request& request_;
  const ChannelSettings& settings_;
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
Extent extent_of(LockType type) noexcept {
  switch (type) {
    case LockType::FENCED: return {2, 2};
    case LockType::READ: return {2, 3};
    case LockType::WRITE: return {1, 3};
    default: return {1, 2};
  }
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
                const Request& request, const ChannelSettings& settings) {
  Extent sum{0, 2};
  for (const Member& member : request.members) {
    const Extent its = extent_of(member.type);
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
    if (member.type == LockType::FENCED) writer.write(token);
    if (member.type == LockType::READ) writer.write(reader);
  }
  buffer.number(request.lease.count());
  buffer.number(std::max<std::uint32_t>(1, request.tokens));
  for (const Member& member : request.members) {
    const Request one = single(request, member);
    ArgumentWriter writer(buffer, one, settings, 0);
    buffer.word(to_string(member.type));
    writer.write(member.type == LockType::WRITE ? Word::writer : owner);
    const bool read_write = member.type == LockType::READ || member.type == LockType::WRITE;
    if (read_write) writer.write(tag);
  }
}

}  // namespace

const Script& script_for(const Request& request) noexcept {
  if (request.verb == Verb::acquire_all) return scripts::acquire_all;
  return *call_for(request).script;
}

void append_evalsha(CommandBuffer& buffer, const Request& request, const ChannelSettings& settings,
                    std::uint64_t cursor) {
  if (request.verb == Verb::acquire_all) {
    return append_all(buffer, "EVALSHA", scripts::acquire_all.sha1, request, settings);
  }
  const Call& call = call_for(request);
  append(buffer, "EVALSHA", call.script->sha1, call, {buffer, request, settings, cursor});
}

void append_eval(CommandBuffer& buffer, const Request& request, const ChannelSettings& settings,
                 std::uint64_t cursor) {
  if (request.verb == Verb::acquire_all) {
    return append_all(buffer, "EVAL", scripts::acquire_all.text, request, settings);
  }
  const Call& call = call_for(request);
  append(buffer, "EVAL", call.script->text, call, {buffer, request, settings, cursor});
}

}  // namespace latchkey::inline v1::detail::redis

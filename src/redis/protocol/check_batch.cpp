// Encodes several renewals and verifications as one call, and decodes its reply.
// SPDX-License-Identifier: BSL-1.0
#include "redis/protocol/check_batch.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "redis/protocol/names.hpp"
#include "redis/protocol/owner_format.hpp"
#include "redis/protocol/reply.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

/// The name of the check in ARGV.
std::string_view word_for(const Request& request) noexcept {
  const bool reads = request.type == LockType::READ, renews = request.verb == Verb::renew;
  if (request.type == LockType::PERMIT) return renews ? "renew_permits" : "verify_permits";
  if (renews) return reads ? "renew_read" : "renew";
  return reads ? "verify_read" : "verify";
}

void append_keys(CommandBuffer& buffer, const Request& request) {
  buffer.word(request.key);
  if (!is_shared(request.type)) return;
  const Tag tag(request.key);
  if (request.type == LockType::PERMIT) {
    return buffer.word({tag.open(), tag.name, tag.close(), permits_suffix});
  }
  const OwnerText owner(request.id);
  buffer.word({tag.open(), tag.name, tag.close(), ":", owner, reader_suffix});
}

void append_arguments(CommandBuffer& buffer, const Request& request, const Layout& layout) {
  buffer.word(word_for(request));
  buffer.number(request.lease.count());
  if (request.type == LockType::PERMIT) {
    return buffer.word({PermitId(request.id), std::to_string(request.permits.taken)});
  }
  buffer.word(
      {OwnerText(request.id, layout.owners), request.type == LockType::WRITE ? writer_suffix : ""});
}

}  // namespace

void append_check_batch(CommandBuffer& buffer, std::span<const Request* const> requests,
                        bool with_text, const Layout& layout) {
  std::size_t keys = 0;
  for (const Request* const each : requests) keys += is_shared(each->type) ? 2 : 1;
  buffer.begin(3 + keys + 3 * requests.size());
  buffer.word(with_text ? "EVAL" : "EVALSHA");
  buffer.word(with_text ? layout.check_batch->text : layout.check_batch->sha1);
  buffer.number(keys);
  for (const Request* const each : requests) append_keys(buffer, *each);
  for (const Request* const each : requests) append_arguments(buffer, *each, layout);
}

// The server remembers a key that is read after CLIENT CACHING YES, until it changes. A renewal is
// a change, so the key is read after it.
std::uint8_t append_watch(CommandBuffer& buffer, std::span<const Request* const> requests) {
  const auto count =
      std::ranges::count_if(requests, [](const Request* each) { return each->watch; });
  if (count == 0) return 0;
  buffer.command({"CLIENT", "CACHING", "YES"});
  buffer.begin(1 + static_cast<std::size_t>(count));
  buffer.word("EXISTS");
  for (const Request* const each : requests) {
    if (each->watch) buffer.word(each->key);
  }
  return 2;
}

CheckAnswers read_check_answers(const redisReply& reply) noexcept {
  CheckAnswers answers;
  for (const redisReply* const each : elements_of(reply)) {
    const bool held = each->type == REDIS_REPLY_INTEGER && each->integer == 0;
    const bool gone = each->type == REDIS_REPLY_NIL;
    answers.add(held   ? CheckAnswers::Answer::held
                : gone ? CheckAnswers::Answer::gone
                       : CheckAnswers::Answer::unclear);
  }
  return answers;
}

}  // namespace latchkey::inline v1::detail::redis

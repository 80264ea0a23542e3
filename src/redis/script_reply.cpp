// What a server's reply means for a request.
#include <algorithm>
#include <charconv>
#include <span>
#include <string>
#include <string_view>

#include "redis/reply.hpp"
#include "redis/script_call.hpp"

namespace latchkey::detail::redis {
namespace {

using Kind = Outcome::Kind;
using std::chrono::milliseconds;
using Replies = std::span<redisReply* const>;

/// A writer is a field `owner:write`; people know it by its owner.
std::string owner_of(const redisReply& reply) {
  std::string_view text = text_of(reply);
  if (constexpr std::string_view mark = ":write"; text.ends_with(mark)) {
    text.remove_suffix(mark.size());
  }
  return std::string(text);
}

std::optional<milliseconds> time_left(long long left) noexcept {
  if (left < 0) return std::nullopt;
  return milliseconds(std::max(left, 1LL));
}

/// What the beginning of an error means. Errors that pass by themselves are `unknown`, though the
/// script did not run: the seam's word for "ask again while the wait lasts", and never "not held by
/// you".
struct Meaning {
  std::string_view beginning;
  Kind kind;
  std::string_view sentence;  ///< a clause; what the server said stands behind it
};

constexpr Meaning meanings[] = {
    {"LOADING", Kind::unknown, "the server is still loading its data"},
    {"BUSY", Kind::unknown, "the server is busy with somebody's script"},
    {"MASTERDOWN", Kind::unknown, "the server is a replica that lost its master"},
    {"CLUSTERDOWN", Kind::unknown, "the cluster is down"},
    {"TRYAGAIN", Kind::unknown, "the key is moving to another node of the cluster"},
    {"ASK", Kind::unknown, "the key is moving to another node of the cluster"},
    {"READONLY", Kind::unknown, "the server is a replica, which grants nothing"},
    {"NOREPLICAS", Kind::unknown, "the server has too few replicas to accept writes"},
    {"MISCONF", Kind::unknown, "the server cannot save its data and accepts no writes"},
    {"NOSCRIPT", Kind::unknown, "the server forgot the script"},
    // A client that follows redirections has done so before it asks what they mean.
    {"MOVED", Kind::refused, "the server is one node of a cluster and another has this key"},
    {"WRONGTYPE", Kind::refused, "the key holds something that is no lock"},
    {"NOPERM", Kind::refused, "the user of this connection lacks a permission"},
    {"NOAUTH", Kind::refused, "the server demands a password"},
    {"ERR The user executing the script", Kind::refused,
     "the user of this connection lacks a permission"},
    {"The user executing the script", Kind::refused,
     "the user of this connection lacks a permission"},
    {"OOM", Kind::refused, "the server is out of memory"},
};

Outcome read_error(std::string_view text) {
  const std::string_view words = server_words(text);
  const auto* const meaning = std::ranges::find_if(
      meanings, [&](std::string_view beginning) { return words.starts_with(beginning); },
      &Meaning::beginning);
  Outcome outcome;
  if (meaning == std::end(meanings)) {
    outcome.kind = Kind::refused;
    outcome.text = "the server said: ";
    outcome.text += words;
    return outcome;
  }
  outcome.kind = meaning->kind;
  outcome.text = meaning->sentence;
  outcome.text += " (";
  outcome.text += words;
  outcome.text += ')';
  return outcome;
}

/// {ms, owner}
bool read_busy(Replies replies, Outcome& outcome) {
  if (replies.size() != 2 || replies[0]->type != REDIS_REPLY_INTEGER) return false;
  outcome.kind = Kind::busy;
  outcome.retry_after = time_left(replies[0]->integer);
  outcome.text = owner_of(*replies[1]);
  return true;
}

/// {ms, owner, member}
bool read_busy_member(Replies replies, Outcome& outcome) {
  if (replies.size() != 3 || replies[2]->type != REDIS_REPLY_INTEGER) return false;
  outcome.busy_member = static_cast<std::uint32_t>(replies[2]->integer);
  return read_busy(replies.first(2), outcome);
}

/// {mode, token, {owner, count, ms, note, ...}, {owner, ...}}
bool read_info(Replies replies, LockInfo& info) {
  if (replies.size() != 4) return false;
  const std::string_view mode = text_of(*replies[0]), token = text_of(*replies[1]);
  info.type = mode == "read"    ? LockType::READ
              : mode == "write" ? LockType::WRITE
                                : LockType::REENTRANT;
  std::uint64_t last = 0;
  if (std::from_chars(token.data(), token.data() + token.size(), last).ptr != token.data()) {
    info.fencing_token = last;
  }
  const Replies holders = elements_of(*replies[2]);
  for (std::size_t at = 0; at + 3 < holders.size(); at += 4) {
    info.holders.push_back(
        {owner_of(*holders[at]), static_cast<std::uint32_t>(holders[at + 1]->integer),
         time_left(holders[at + 2]->integer), std::string(text_of(*holders[at + 3]))});
  }
  info.locked = !info.holders.empty();
  for (const redisReply* const waiter : elements_of(*replies[3])) {
    info.queue.emplace_back(text_of(*waiter));
  }
  return true;
}

/// {cursor, name, ...}
bool read_page(const redisReply& reply, std::vector<std::string>& names) {
  const Replies replies = elements_of(reply);
  if (replies.empty()) return false;
  for (const redisReply* const name : replies.subspan(1)) names.emplace_back(text_of(*name));
  if (list_cursor(reply) == 0) {
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }
  return true;
}

bool read_array(const Request& request, const redisReply& reply, Outcome& outcome) {
  outcome.kind = Kind::granted;
  switch (request.verb) {
    case Verb::acquire: return read_busy(elements_of(reply), outcome);
    case Verb::acquire_all: return read_busy_member(elements_of(reply), outcome);
    case Verb::inspect:
      *request.info = LockInfo{};
      request.info->key = request.key;
      return read_info(elements_of(reply), *request.info);
    case Verb::list: return read_page(reply, *request.names);
    default: return false;
  }
}

}  // namespace

// Redis 7 puts the script's digest and line behind them. Redis 6 puts them before them, the line
// twice, with a dash before the words of its own commands and a space behind them:
//     ERR Error running script (call to f_f00): @user_script:1: @user_script: 1: -READONLY You
std::string_view server_words(std::string_view text) noexcept {
  constexpr std::string_view where = "@user_script:";
  const std::size_t at = text.rfind(where);
  if (text.starts_with("ERR Error running script") && at != std::string_view::npos) {
    const std::size_t colon = text.find(": ", at + where.size());
    if (colon != std::string_view::npos) text.remove_prefix(colon + 2);
    if (text.starts_with('-')) text.remove_prefix(1);
    if (text.ends_with(' ')) text.remove_suffix(1);
  } else if (at != std::string_view::npos) {
    text = text.substr(0, text.rfind(" script: ", at));
  }
  if (text.ends_with('.')) text.remove_suffix(1);
  return text;
}

Outcome read_outcome(const Request& request, const redisReply& reply) {
  Outcome outcome;
  switch (reply.type) {
    case REDIS_REPLY_INTEGER:
      outcome.kind = Kind::granted;
      outcome.token = static_cast<std::uint64_t>(std::max(reply.integer, 0LL));
      return outcome;
    case REDIS_REPLY_NIL: outcome.kind = Kind::gone; return outcome;
    case REDIS_REPLY_ARRAY:
      if (read_array(request, reply, outcome)) return outcome;
      break;
    case REDIS_REPLY_ERROR: return read_error(text_of(reply));
    default: break;
  }
  outcome = Outcome{};
  outcome.text = "the server answered with what no script of latchkey's returns";
  return outcome;
}

std::uint64_t list_cursor(const redisReply& reply) noexcept {
  const Replies replies = elements_of(reply);
  if (replies.empty()) return 0;
  const std::string_view text = text_of(*replies[0]);
  std::uint64_t cursor = 0;
  std::from_chars(text.data(), text.data() + text.size(), cursor);
  return cursor;
}

bool is_noscript(const redisReply& reply) noexcept {
  return reply.type == REDIS_REPLY_ERROR && text_of(reply).starts_with("NOSCRIPT");
}

}  // namespace latchkey::detail::redis

// What a server's reply means for a request.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <span>
#include <string>
#include <string_view>

#include "redis/protocol/reply.hpp"
#include "redis/protocol/script_call.hpp"

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

constexpr std::string_view lacks_permission = "the user of this connection lacks a permission";

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
    {"NOPERM", Kind::refused, lacks_permission},
    {"NOAUTH", Kind::refused, "the server demands a password"},
    {"ERR The user executing the script", Kind::refused, lacks_permission},
    {"The user executing the script", Kind::refused, lacks_permission},
    {"ERR ACL failure", Kind::refused, lacks_permission},
    {"OOM", Kind::refused, "the server is out of memory"},
};

/// Whoever asks holds, or believes so.
bool is_about_a_hold(const Request& request) noexcept {
  switch (request.verb) {
    case Verb::renew:
    case Verb::verify:
    case Verb::downgrade:
    case Verb::release: return true;
    case Verb::leave: return request.type != LockType::FAIR;  // which may be about the queue
    default: return false;
  }
}

/// The number behind the first `before`; 0: there is none.
std::size_t number_behind(std::string_view before, std::string_view text) noexcept {
  std::size_t number = 0;
  const std::size_t at = text.find(before);
  if (at == std::string_view::npos) return number;
  text.remove_prefix(at + before.size());
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// The commands in one line of a script, as "+pexpire": most lines have one.
std::string commands_in_line(std::string_view script, std::size_t number) {
  for (; number > 1 && !script.empty(); --number) {
    script.remove_prefix(std::min(script.find('\n'), script.size() - 1) + 1);
  }
  script = script.substr(0, script.find('\n'));
  std::string commands;
  constexpr std::string_view call = "call('";
  for (std::size_t at = 0; (at = script.find(call, at)) != std::string_view::npos;) {
    at += call.size();
    std::string command = "+";
    for (; at < script.size() && script[at] != '\''; ++at) {
      command += static_cast<char>(std::tolower(static_cast<unsigned char>(script[at])));
    }
    if (commands.find(command) != std::string::npos) continue;
    if (!commands.empty()) commands += " or ";
    commands += command;
  }
  return commands;
}

/// What the user of the connection lacks, as ", +pexpire": Redis before 7.2 does not name the
/// command that a script was refused, and only the line of the script tells.
std::string missing_permission(const Request& request, std::string_view error) {
  if (error.find("run th") == std::string_view::npos) return {};  // it is about a key
  constexpr std::string_view names = "to run the '";
  if (const std::size_t at = error.find(names); at != std::string_view::npos) {
    const std::string_view rest = error.substr(at + names.size());
    return ", +" + std::string(rest.substr(0, rest.find('\'')));
  }
  const std::size_t line = number_behind("@user_script:", error);
  if (line == 0) return {};
  const std::string commands = commands_in_line(script_for(request).text, line);
  return commands.empty() ? commands : ", " + commands;
}

/// The server's words without the name of the user, which some servers tell.
std::string without_user(std::string_view words) {
  std::string text(words);
  constexpr std::string_view before = "User ", after = " has no permissions";
  const std::size_t from = text.find(before), to = text.rfind(after);
  if (from != std::string::npos && to != std::string::npos && to >= from + before.size()) {
    text.replace(from, to - from, "this user");
  }
  return text;
}

Outcome read_error(const Request& request, std::string_view text) {
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
  // Something else has been put where the lock was.
  if (meaning->beginning == "WRONGTYPE" && is_about_a_hold(request)) {
    outcome.kind = Kind::gone;
  }
  outcome.text = meaning->sentence;
  const bool forbidden = meaning->sentence == lacks_permission;
  if (forbidden) outcome.text += missing_permission(request, text);
  outcome.text += " (";
  outcome.text += forbidden ? without_user(words) : std::string(words);
  outcome.text += ')';
  return outcome;
}

/// Redisson's UUIDs are of version 4, latchkey's of version 8.
bool is_redissons(std::string_view owner) noexcept {
  return owner.size() > 36 && owner[13] == '-' && owner[14] == '4';
}

/// Redisson tells only the first in the queue that a FAIR lock came free, and nobody where none
/// queues. Its hash does not say of which type it is, so a Java holder is asked for often.
constexpr milliseconds unannounced{1'000};

/// {ms, owner}
bool read_busy(Replies replies, Outcome& outcome) {
  if (replies.size() != 2 || replies[0]->type != REDIS_REPLY_INTEGER) return false;
  outcome.kind = Kind::busy;
  outcome.retry_after = time_left(replies[0]->integer);
  outcome.text = owner_of(*replies[1]);
  if (is_redissons(outcome.text)) {
    outcome.retry_after = std::min(outcome.retry_after.value_or(unannounced), unannounced);
  }
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
    case REDIS_REPLY_ERROR: return read_error(request, text_of(reply));
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

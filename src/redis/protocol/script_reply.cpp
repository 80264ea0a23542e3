// Decodes replies as outcomes.
// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <cctype>
#include <charconv>
#include <span>
#include <string>
#include <string_view>

#include "backend/refusals.hpp"
#include "redis/protocol/reply.hpp"
#include "redis/protocol/script_call.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

using Kind = Outcome::Kind;
using Replies = std::span<redisReply* const>;

/// The outcome of errors with this prefix. Transient errors are `unknown`, although the script did
/// not run: the caller then tries again while its wait lasts, and does not believe a hold to be
/// lost.
struct ErrorMeaning {
  std::string_view prefix;
  Kind kind;
  std::string_view clause;  ///< the server's text is appended to it
};

constexpr std::string_view lacks_permission = "the user of this connection lacks a permission";
constexpr std::string_view lacks_command = "the server does not offer a command that locks need";

constexpr ErrorMeaning meanings[] = {
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
    // In a cluster the session follows MOVED and ASK before it decodes the reply.
    {"MOVED", Kind::refused, "the server is one node of a cluster and another has this key"},
    {"WRONGTYPE", Kind::refused, "the key holds something that is not a lock"},
    {"NOPERM", Kind::refused, lacks_permission},
    {"NOAUTH", Kind::refused, "the server demands a password"},
    {"ERR The user executing the script", Kind::refused, lacks_permission},
    {"The user executing the script", Kind::refused, lacks_permission},
    {"ERR ACL failure", Kind::refused, lacks_permission},
    {"OOM", Kind::refused, "the server is out of memory"},
    // rename-command in redis.conf, or a service that forbids commands.
    {"ERR unknown command", Kind::refused, lacks_command},
    {"ERR Unknown Redis command", Kind::refused, lacks_command},
    {"Unknown Redis command", Kind::refused, lacks_command},
};

/// Whether the caller holds the lock, or believes so.
bool concerns_a_hold(const Request& request) noexcept {
  switch (request.verb) {
    case Verb::renew:
    case Verb::verify:
    case Verb::downgrade:
    case Verb::expire:
    case Verb::release: return true;
    case Verb::leave: return request.type != LockType::FAIR;  // FAIR: it may only have queued
    default: return false;
  }
}

/// The number after the first `before`; 0: there is none.
std::size_t number_after(std::string_view before, std::string_view text) noexcept {
  std::size_t number = 0;
  const std::size_t at = text.find(before);
  if (at == std::string_view::npos) return number;
  text.remove_prefix(at + before.size());
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// The commands in one line of a script, such as "+pexpire". Most lines have one.
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

/// The permission that the user lacks, such as ", +pexpire". Redis before 7.2 reports the line of
/// the script and not the command that it rejected. For a subcommand, as in "pubsub|channels",
/// names the command: the scripts use several.
std::string missing_permission(const Script& script, std::string_view error) {
  if (error.find("run th") == std::string_view::npos) return {};  // the permission for a key
  constexpr std::string_view names = "to run the '";
  if (const std::size_t at = error.find(names); at != std::string_view::npos) {
    const std::string_view rest = error.substr(at + names.size());
    return ", +" + std::string(rest.substr(0, rest.find_first_of("'|")));
  }
  const std::size_t line = number_after("@user_script:", error);
  if (line == 0) return {};
  const std::string commands = commands_in_line(script.text, line);
  return commands.empty() ? commands : ", " + commands;
}

/// The command that the server does not offer, such as ", EVALSHA": the error quotes it, or is that
/// of a line of the script.
std::string missing_command(const Script& script, std::string_view error) {
  constexpr std::string_view before = "unknown command ";
  if (const std::size_t at = error.find(before); at != std::string_view::npos) {
    std::string_view rest = error.substr(at + before.size());
    if (!rest.empty()) rest.remove_prefix(1);
    return ", " + std::string(rest.substr(0, rest.find_first_of("'`")));
  }
  std::string commands = commands_in_line(script.text, number_after("@user_script:", error));
  std::erase(commands, '+');
  return commands.empty() ? commands : ", " + commands;
}

/// The text of an error without the name of the user, which some servers include.
std::string without_user(std::string_view words) {
  std::string text(words);
  constexpr std::string_view before = "User ", after = " has no permissions";
  const std::size_t from = text.find(before), to = text.rfind(after);
  if (from != std::string::npos && to != std::string::npos && to >= from + before.size()) {
    text.replace(from, to - from, "this user");
  }
  return text;
}

Outcome read_error(const Request& request, std::string_view text, const Layout& layout) {
  const std::string_view words = server_words(text);
  const auto* const meaning = std::ranges::find_if(
      meanings, [&](std::string_view prefix) { return words.starts_with(prefix); },
      &ErrorMeaning::prefix);
  Outcome outcome;
  if (meaning == std::end(meanings)) {
    outcome.kind = Kind::refused;
    outcome.reason = "the server said: ";
    outcome.reason += words;
    return outcome;
  }
  outcome.kind = meaning->kind;
  // Another value has replaced the lock.
  if (meaning->prefix == "WRONGTYPE" && concerns_a_hold(request)) {
    outcome.kind = Kind::gone;
  }
  const bool of_semaphore = request.type == LockType::PERMIT;
  outcome.reason = meaning->prefix == "WRONGTYPE" && of_semaphore
                       ? "the key holds something that is no semaphore"
                       : meaning->clause;
  const bool forbidden = meaning->clause == lacks_permission;
  if (forbidden) outcome.reason += missing_permission(script_for(request, layout), text);
  const bool lacking = meaning->clause == lacks_command;
  if (lacking) outcome.reason += missing_command(script_for(request, layout), text);
  outcome.reason += " (";
  // The arguments of the command may be a whole script.
  const std::string_view shown = lacking ? words.substr(0, words.find(", with args")) : words;
  outcome.reason += forbidden ? without_user(shown) : std::string(shown);
  outcome.reason += ')';
  return outcome;
}

/// {ms, owner}, FAIR: {ms, owner, place}, or {ms, owner, place, 1 if it is near the front}
bool read_busy(Replies replies, const Layout& layout, Outcome& outcome) {
  if (replies.size() < 2 || replies.size() > 4) return false;
  if (replies[0]->type != REDIS_REPLY_INTEGER || replies[1]->type == REDIS_REPLY_INTEGER) {
    return false;
  }
  const auto is_number = [](const redisReply* each) { return each->type == REDIS_REPLY_INTEGER; };
  if (!std::ranges::all_of(replies.subspan(2), is_number)) return false;
  if (replies.size() > 2) {
    outcome.place = static_cast<std::uint64_t>(std::max(replies[2]->integer, 0LL));
  }
  outcome.near_front = replies.size() > 3 && outcome.place != 0 && replies[3]->integer == 1;
  outcome.kind = Kind::busy;
  outcome.retry_after = time_left(replies[0]->integer);
  outcome.holder = owner_of(*replies[1]);
  if (const auto poll = layout.poll_interval(outcome.holder)) {
    outcome.holder_is_foreign = true;
    outcome.retry_after = std::min(outcome.retry_after.value_or(*poll), *poll);
  }
  return true;
}

/// {ms, total, 1 if it waits in a queue}: too few permits
bool read_busy_semaphore(const Request& request, Replies replies, Outcome& outcome) {
  const auto is_number = [](const redisReply* each) { return each->type == REDIS_REPLY_INTEGER; };
  if (replies.size() != 3 || !std::ranges::all_of(replies, is_number)) return false;
  const long long total = replies[1]->integer;
  if (total < static_cast<long long>(request.permits.taken)) {
    outcome.kind = Kind::refused;
    outcome.reason = too_few_permits(request, total);
    return true;
  }
  outcome.kind = Kind::busy;
  outcome.retry_after = time_left(replies[0]->integer);
  outcome.place = replies[2]->integer > 0 ? 1 : 0;
  return true;
}

/// {ms, owner, member}
bool read_busy_member(Replies replies, const Layout& layout, Outcome& outcome) {
  if (replies.size() != 3 || replies[2]->type != REDIS_REPLY_INTEGER) return false;
  outcome.busy_member = static_cast<std::uint32_t>(replies[2]->integer);
  return read_busy(replies.first(2), layout, outcome);
}

/// The number of connections that a release or a revocation notified, or a fencing token.
bool read_integer_reply(const Request& request, long long number, Outcome& outcome) {
  outcome.kind = Kind::granted;
  const bool acquires = request.verb == Verb::acquire;
  if (acquires && request.type == LockType::PERMIT) {
    outcome.permits_left = static_cast<std::uint32_t>(std::clamp(number, 0LL, 0x7FFFFFFFLL));
    return true;
  }
  outcome.wanted = request.recall && number != 0;
  if (request.verb == Verb::expire || request.recall) return true;
  if (acquires && request.wants_token() && number < request.tokens) return false;
  const bool notifies = request.verb == Verb::release || request.verb == Verb::revoke;
  (notifies ? outcome.notified : outcome.token) = static_cast<std::uint64_t>(std::max(number, 0LL));
  return true;
}

bool read_array(const Request& request, const redisReply& reply, const Layout& layout,
                Outcome& outcome) {
  outcome.kind = Kind::granted;
  switch (request.verb) {
    case Verb::acquire:
      if (request.type == LockType::PERMIT) {
        return read_busy_semaphore(request, elements_of(reply), outcome);
      }
      return read_busy(elements_of(reply), layout, outcome);
    case Verb::acquire_all: return read_busy_member(elements_of(reply), layout, outcome);
    case Verb::inspect:
      *request.info = LockInfo{};
      request.info->key = request.key;
      if (request.type == LockType::PERMIT) return read_permits(reply, *request.info);
      return read_info(reply, *request.info);
    case Verb::list: return read_names(reply, request);
    default: return false;
  }
}

}  // namespace

// Redis 7 appends the script's digest and line to the text. Redis 6 prepends them, the line twice,
// and encloses the text of its own commands in a dash and a space:
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

Outcome read_outcome(const Request& request, const redisReply& reply, const Layout& layout) {
  Outcome outcome;
  switch (reply.type) {
    case REDIS_REPLY_INTEGER:
      if (read_integer_reply(request, reply.integer, outcome)) return outcome;
      break;
    case REDIS_REPLY_NIL: outcome.kind = Kind::gone; return outcome;
    case REDIS_REPLY_ARRAY:
      if (read_array(request, reply, layout, outcome)) return outcome;
      break;
    case REDIS_REPLY_ERROR: return read_error(request, text_of(reply), layout);
    default: break;
  }
  outcome = Outcome{};
  outcome.reason = "the server answered with what no script of latchkey's returns";
  return outcome;
}

bool is_noscript(const redisReply& reply) noexcept {
  return reply.type == REDIS_REPLY_ERROR && text_of(reply).starts_with("NOSCRIPT");
}

}  // namespace latchkey::inline v1::detail::redis

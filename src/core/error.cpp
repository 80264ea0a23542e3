// The messages of latchkey's errors.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/error.hpp>

#include <utility>

#include "core/text/nearest.hpp"
#include "core/text/printable.hpp"

namespace latchkey::inline v1 {
namespace {

std::string about(const LockSite& site) {
  std::string text = "the ";
  if (site.latch) {
    text += "latch '";
  } else if (site.untyped) {
    text += "key '";
  } else if (site.type == LockType::PERMIT) {
    text += "semaphore '";
  } else {
    text += to_string(site.type);
    text += " lock '";
  }
  text += site.prefix;
  text += site.key;
  text += '\'';
  if (!site.backend.empty()) {
    text += " on ";
    text += site.backend;
  }
  return text;
}

std::string timeout_sentence(const LockSite& site, std::chrono::milliseconds waited,
                             const std::string& holder) {
  const bool permits = site.type == LockType::PERMIT;
  std::string text = about(site) + (permits ? " had too few permits" : " was busy") +
                     " for the whole wait of " + std::to_string(waited.count()) + " ms";
  if (!holder.empty()) text += "; held by " + holder;
  return text;
}

std::string position(const std::string& file, int line, int column) {
  std::string text = file;
  if (line > 0) text += ':' + std::to_string(line);
  if (line > 0 && column > 0) text += ':' + std::to_string(column);
  return text.empty() ? text : text + ": ";
}

std::string one_to_a_line(const std::vector<PolicyError>& all) {
  std::string text;
  for (const PolicyError& error : all) {
    if (!text.empty()) text += '\n';
    text += error.what();
  }
  return text;
}

// The location first, then the error, then what helps to find the cause.
std::string of_call(const LockSite& site, const std::string& sentence) {
  if (site.method.empty()) return sentence;
  std::string text = site.method + ": " + sentence;
  if (!site.terms.empty()) text += "; " + site.terms;
  return text + (site.body_ran ? "; the body ran" : "; the body did not run");
}

std::string lost_sentence(const LockSite& site, std::optional<std::chrono::milliseconds> held,
                          bool held_too_long) {
  std::string text = about(site) + " was lost before it was released: " +
                     (held_too_long ? "it was held for longer than held_at_most allows"
                                    : "its lease ended or the backend no longer had it") +
                     ", and another may have held it meanwhile";
  if (held) text += "; it was held for " + std::to_string(held->count()) + " ms";
  return text;
}

std::string deadlock_sentence(const LockSite& site, LockType held, const std::string& holder,
                              bool refused) {
  std::string text = about(site) + " would wait for its own owner, who holds it as ";
  text += to_string(held);
  if (!holder.empty()) text += " in " + holder;
  if (refused) return text + ": re-entry is refused here by .reentry(Reentry::refuse)";
  if (held == LockType::READ && site.type == LockType::WRITE) {
    return text + ": a READ cannot become a WRITE; take the WRITE " +
           (holder.empty() ? "first" : "in the outer method") + ", or end the READ before";
  }
  if (held == site.type) {
    return text + " without a fencing token: say .fenced() " +
           (holder.empty() ? "there, too" : "in the outer method, too");
  }
  return text + ": take the key as one type in both places";
}

std::string stale_sentence(const std::string& key, std::uint64_t presented) {
  return "the fence of '" + key + "' is too old: token " + std::to_string(presented) +
         " was presented, but ";
}

}  // namespace

// Keys and holders' notes are text of other clients.
LockError::LockError(LockSite site, const std::string& sentence)
    : Error(detail::printable(of_call(site, sentence))), site_(std::move(site)) {
  if (site_.body_ran) note_body_ran();
}

LockTimeout::LockTimeout(LockSite site, std::chrono::milliseconds waited, std::string holder)
    : LockError(site, timeout_sentence(site, waited, holder)),
      waited_(waited),
      holder_(std::move(holder)) {}

LockLost::LockLost(LockSite site, std::optional<std::chrono::milliseconds> held, bool held_too_long)
    : LockError(site, lost_sentence(site, held, held_too_long)),
      held_(held),
      held_too_long_(held_too_long) {}

NotOwner::NotOwner(LockSite site)
    : LockError(site, about(site) + " is not held by this owner by lock(): nothing to unlock") {}

NotHeld::NotHeld(LockSite site, bool lost)
    : LockError(site,
                lost ? "the decorated call of this thread that holds '" + site.key + "' has lost it"
                     : "no decorated call of this thread holds '" + site.key + "'") {}

WouldDeadlock::WouldDeadlock(LockSite site, LockType held, const std::string& holder, bool refused)
    : LockError(site, deadlock_sentence(site, held, holder, refused)) {}

Cancelled::Cancelled(LockSite site, By by)
    : LockError(site, "the wait for " + about(site) + " was cancelled by its " +
                          (by == By::stop_token ? "stop token" : "cancellation slot")),
      by_(by) {}

Closed::Closed(LockSite site) : LockError(site, "the Locks of " + about(site) + " are closed") {}

// Without a key the error is about the backend itself, for example when Locks are made.
BackendUnavailable::BackendUnavailable(LockSite site, const std::string& reason)
    : LockError(site, (site.key.empty() ? site.backend + " cannot be used now: "
                                        : "the state of " + about(site) + " is unknown: ") +
                          reason) {}

BackendUnavailable::BackendUnavailable(LockSite site, const std::string& reason, Release)
    : LockError(site, "the release of " + about(site) + " was not confirmed: " + reason +
                          "; the lock ends at the latest with its lease") {}

ReleaseUnconfirmed::ReleaseUnconfirmed(LockSite site, const std::string& reason)
    : BackendUnavailable(std::move(site), reason, Release{}) {}

BackendRefused::BackendRefused(LockSite site, const std::string& reason)
    : LockError(site, (site.key.empty() ? site.backend + " refused: "
                                        : "the backend refused " + about(site) + ": ") +
                          reason) {}

PolicyError::PolicyError(std::string file, int line, int column, const std::string& sentence)
    : Error(position(file, line, column) + sentence),
      file_(std::move(file)),
      line_(line),
      column_(column) {}

PolicyError::PolicyError(std::vector<PolicyError> all)
    : Error(one_to_a_line(all)),
      file_(all.front().file_),
      line_(all.front().line_),
      column_(all.front().column_),
      all_(std::make_shared<const std::vector<PolicyError>>(std::move(all))) {}

std::vector<PolicyError> PolicyError::all() const {
  return all_ != nullptr ? *all_ : std::vector<PolicyError>{*this};
}

FenceError::FenceError(std::string_view text, std::size_t column, const std::string& sentence)
    : Error(detail::printable("fence " + detail::quoted_word(text) + ":" + std::to_string(column) +
                              ": " + sentence)),
      column_(column) {}

FenceRejected::FenceRejected(std::string key, std::uint64_t presented, std::uint64_t highest)
    : Error(detail::printable(stale_sentence(key, presented) + "token " + std::to_string(highest) +
                              " was seen before; the lock went to a later holder")),
      key_(std::move(key)),
      presented_(presented),
      highest_(highest) {}

FenceRejected::FenceRejected(std::string key, std::uint64_t presented, std::uint64_t highest,
                             Forgotten)
    : Error(detail::printable(stale_sentence(key, presented) +
                              "the guard has forgotten keys with tokens up to " +
                              std::to_string(highest) + ": acquire the lock anew")),
      key_(std::move(key)),
      presented_(presented),
      highest_(highest) {}

}  // namespace latchkey::inline v1

// The sentences of latchkey's errors.
#include <latchkey/error.hpp>

#include <utility>

namespace latchkey {
namespace {

std::string about(const LockSite& site) {
  std::string text = "the ";
  text += to_string(site.type);
  text += " lock '";
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
  std::string text =
      about(site) + " was busy for the whole wait of " + std::to_string(waited.count()) + " ms";
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

}  // namespace

LockError::LockError(LockSite site, const std::string& sentence)
    : Error(sentence), site_(std::move(site)) {}

LockTimeout::LockTimeout(LockSite site, std::chrono::milliseconds waited, std::string holder)
    : LockError(site, timeout_sentence(site, waited, holder)),
      waited_(waited),
      holder_(std::move(holder)) {}

LockLost::LockLost(LockSite site)
    : LockError(site, about(site) +
                          " was lost before it was released: its lease ended or the "
                          "backend no longer had it, and another may have held it "
                          "meanwhile") {}

NotOwner::NotOwner(LockSite site)
    : LockError(site, about(site) + " is not held by this owner by lock(): nothing to unlock") {}

NotHeld::NotHeld(LockSite site, bool lost)
    : LockError(site,
                lost ? "the decorated call of this thread that holds '" + site.key + "' has lost it"
                     : "no decorated call of this thread holds '" + site.key + "'") {}

WouldDeadlock::WouldDeadlock(LockSite site, LockType held)
    : LockError(site, about(site) + " would wait for its own owner, who holds it as " +
                          std::string(to_string(held))) {}

Cancelled::Cancelled(LockSite site)
    : LockError(site, "the wait for " + about(site) + " was cancelled by its stop token") {}

Closed::Closed(LockSite site) : LockError(site, "the Locks of " + about(site) + " are closed") {}

// Without a key it is about the backend itself, as when it is made.
BackendUnavailable::BackendUnavailable(LockSite site, const std::string& reason)
    : LockError(site, (site.key.empty() ? site.backend + " cannot be used now: "
                                        : "nobody can tell who holds " + about(site) + ": ") +
                          reason) {}

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

}  // namespace latchkey

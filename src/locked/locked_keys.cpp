// One call under LOCKED with several keys, or with the keys of a policy.
#include <latchkey/locked/locked_call.hpp>

#include <string>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

namespace latchkey::detail {

Entry LockedCall::enter_by_policy(const SitePolicy& policy, std::span<const void* const> arguments,
                                  Site& site) {
  if (!policy.over.unlocked && policy.key->many()) {
    return enter_all(policy.key->render_many(arguments), policy.key_text, site);
  }
  if (!policy.over.unlocked) policy.key->render(rendered_, arguments);
  return enter_rendered(policy.key_text, site);
}

bool LockedCall::covers(std::string_view key) const {
  if (!hold_) return false;
  if (!key_.empty()) return key_ == key;
  // The hold has its keys with their prefix.
  return hold_->covers(locks_->lock(std::string(key), terms_->type).key());
}

}  // namespace latchkey::detail

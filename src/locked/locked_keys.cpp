// One call under LOCKED with several keys, or with the keys of a policy.
#include <latchkey/locked/locked_call.hpp>

#include <string>
#include <utility>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

#include "locked/lock_order.hpp"

namespace latchkey::detail {

Entry LockedCall::enter_by_policy(const SitePolicy& policy, KeyBuffer& key,
                                  std::span<const void* const> arguments, Site& site) {
  if (!policy.over.unlocked && policy.key->many()) {
    return enter_all(policy.key->render_many(arguments), policy.key_text, site);
  }
  if (!policy.over.unlocked) policy.key->render(key, arguments);
  return enter(key.view(), policy.key_text, site);
}

Entry LockedCall::acquire_all(const std::vector<std::string>& keys) {
  Attempt attempt{terms_->type, terms_->wait, terms_->lease, {}, terms_->reentry, origin_};
  if (cancel_ != nullptr) attempt.cancel = *cancel_;
  if (innermost() != nullptr) check_lock_order(*this, *terms_, *innermost());
  if (terms_->raises_timeout) {
    hold_.emplace(locks_->acquire_all(keys, attempt));
  } else {
    hold_ = locks_->try_acquire_all(keys, attempt);
    if (!hold_) return Entry::timeout;
  }
  link();
  return Entry::held;
}

bool LockedCall::covers(std::string_view key) const {
  if (!hold_) return false;
  if (!key_.empty()) return key_ == key;
  // The hold has its keys with their prefix.
  return hold_->covers(locks_->lock(std::string(key), terms_->type).key());
}

}  // namespace latchkey::detail

// One call under LOCKED with several keys, or with the keys of a policy.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/detail/locked/locked_call.hpp>

#include <string>
#include <vector>

#include <latchkey/default_locks.hpp>
#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

namespace latchkey::inline v1::detail {

Entry LockedCall::enter_by_policy(const SitePolicy& policy, std::span<const void* const> arguments,
                                  Site& site) {
  if (!policy.over.unlocked && policy.key->many()) {
    RenderedKeys keys;
    policy.key->render_many(keys, arguments);
    return enter_all(keys, policy.key_text, site);
  }
  if (!policy.over.unlocked) policy.key->render(rendered_, arguments);
  return enter_rendered(policy.key_text, site);
}

std::vector<std::string> LockedCall::prepare(const LockedSite& known, Site& site,
                                             const void* const* arguments) {
  const SitePolicy* policy = follow(known.slot);
  if (policy != nullptr && !policy->says_key()) policy = nullptr;
  std::string_view key_template = policy != nullptr ? policy->key_text : known.key.text;
  std::vector<std::string> keys;
  try {
    keys = render(known, policy, {arguments, site.argument_count()});
  } catch (const KeyError& error) {
    name(error, site, known.note.text);
  }
  site.give_name(terms_->name);
  if (!origin_.key_template.empty()) key_template = origin_.key_template;  // the policy's
  origin_ = {&site, key_template};
  if (locks_ == nullptr && !terms_->unlocked) locks_ = &default_locks();
  if (terms_->hold_for.count() != 0 && locks_ != nullptr) entered_ = locks_->clock().now();
  return keys;
}

// `policy` is null unless it replaces the key.
std::vector<std::string> LockedCall::render(const LockedSite& known, const SitePolicy* policy,
                                            std::span<const void* const> arguments) {
  if (policy != nullptr) {
    if (policy->over.unlocked) return {};
    if (policy->key->many()) return policy->key->render_many(arguments);
    policy->key->render(rendered_, arguments);
  } else if (known.render != nullptr) {
    known.render(rendered_, known.key, arguments.data());
  } else if (known.render_all != nullptr) {
    RenderedKeys keys;
    known.render_all(keys, arguments.data());
    return keys.strings();
  } else {
    throw_not_configured(known.key.text);
  }
  key_ = rendered_.view();
  return {};
}

bool LockedCall::covers(std::string_view key) const {
  if (!hold_) return false;
  return key_.empty() ? hold_->covers(key) : key_ == key;
}

}  // namespace latchkey::inline v1::detail

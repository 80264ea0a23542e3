// Several parts of a policy file as one policy.
// SPDX-License-Identifier: BSL-1.0
#include "install/policy_layers.hpp"

#include <variant>

#include "policy/settings.hpp"

namespace latchkey::inline v1::detail {

Policy policy_of(const Layers& layers) {
  Policy policy;
  const auto merge = [&](const auto& member) {
    if (member.merged == nullptr) return;
    if (const auto said = layers.find(member.said)) policy.*member.merged = said->value;
  };
  for (const PolicySetting& setting : policy_settings) std::visit(merge, setting.member);
  if (policy.permits) policy.type = LockType::PERMIT;
  policy.unlocked = layers.find(&PolicySettings::unlocked).has_value();
  policy.fenced = layers.find(&PolicySettings::fenced).has_value();
  policy.shared_with_redisson = layers.find(&PolicySettings::shared_with).has_value();
  return policy;
}

}  // namespace latchkey::inline v1::detail

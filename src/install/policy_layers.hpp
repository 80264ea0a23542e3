// Several parts of a policy file as one policy.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <optional>
#include <vector>

#include <latchkey/policy.hpp>

#include "policy/policy_file.hpp"

namespace latchkey::inline v1::detail {

/// Groups of settings in the order of precedence: the first one that has a setting wins.
struct Layers {
  std::vector<const PolicySettings*> all{};

  template <class T>
  [[nodiscard]] Perhaps<T> find(Perhaps<T> PolicySettings::* setting) const {
    for (const PolicySettings* settings : all) {
      if (settings->*setting) return settings->*setting;
    }
    return std::nullopt;
  }
};

/// The settings that the layers have together.
[[nodiscard]] Policy policy_of(const Layers& layers);

}  // namespace latchkey::inline v1::detail

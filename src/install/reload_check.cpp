// The settings that a reload may not change.
// SPDX-License-Identifier: BSL-1.0
#include "install/reload_check.hpp"

#include "core/text/nearest.hpp"

namespace latchkey::inline v1::detail {
namespace {

constexpr const char* needs_a_restart = ", which needs a restart: calls in flight hold the other";

std::string or_nothing(const std::optional<std::string>& text) {
  return text ? quoted_word(*text) : "nothing";
}

std::string name_of(const BackendEntry* entry) {
  return entry == nullptr ? std::string() : entry->name.value;
}

}  // namespace

void refuse_change(const char* setting, const std::string& method,
                   const std::optional<std::string>& before, const Perhaps<std::string>& now,
                   Place otherwise, Problems& problems) {
  const auto value = now ? std::optional(now->value) : std::nullopt;
  if (value == before) return;
  const std::string whose = method.empty() ? std::string() : " of " + method;
  problems.push_back({now ? now->at : otherwise, quoted_word(setting) + whose + " changes from " +
                                                     or_nothing(before) + " to " +
                                                     or_nothing(value) + needs_a_restart});
}

void refuse_other_backends(const PolicyFile& before, const PolicyFile& now, Problems& problems) {
  const Place top{1, 1};
  for (const BackendEntry& entry : now.backends) {
    const BackendEntry* const known = before.find_backend(entry.name.value);
    if (known == nullptr || known->uri.value != entry.uri.value) {
      // The URIs are not shown: they may contain a password.
      problems.push_back({known == nullptr ? entry.name.at : entry.uri.at,
                          "the backend " + quoted_word(entry.name.value) +
                              (known == nullptr ? " is new" : " has another URI") +
                              ", which needs a restart"});
    }
  }
  for (const BackendEntry& entry : before.backends) {
    if (now.find_backend(entry.name.value) == nullptr) {
      problems.push_back({top, "the backend " + quoted_word(entry.name.value) +
                                   " is gone, which needs a restart"});
    }
  }
  const std::string old_default = name_of(before.default_backend());
  const std::string new_default = name_of(now.default_backend());
  if (old_default != new_default && !new_default.empty()) {
    problems.push_back({now.backend ? now.backend->at : top,
                        "calls would use the backend " + quoted_word(new_default) + " instead of " +
                            quoted_word(old_default) + ", which needs a restart"});
  }
  const auto old_prefix = before.prefix ? std::optional(before.prefix->value) : std::nullopt;
  refuse_change("prefix", {}, old_prefix, now.prefix, top, problems);
}

}  // namespace latchkey::inline v1::detail

// The facts of one LOCKED at one site that are known before any call.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include <latchkey/detail/key/interpreter.hpp>
#include <latchkey/detail/key/node.hpp>
#include <latchkey/detail/key/rendered_keys.hpp>
#include <latchkey/detail/locked/site_policy.hpp>
#include <latchkey/detail/placed_text.hpp>
#include <latchkey/key_buffer.hpp>
#include <latchkey/site.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// How the key of a LOCKED is rendered. Both functions are null for LOCKED_BY.
struct LockedKey {
  void (*render)(KeyBuffer& out, const KeyData& key, const void* const* arguments) = nullptr;
  /// For several keys, instead of `render`.
  void (*render_all)(RenderedKeys& keys, const void* const* arguments) = nullptr;
  bool is_one = false;  ///< `render` is set; a constant expression may ask for this
  KeyData key{};        ///< its text is the template: several, separated by commas
};

/// The site of calls that no other aspect surrounds, with what is known of the LOCKED. A LOCKED
/// inside another aspect has one that is not registered. Constant-initialised; of its own members
/// only `slot` changes.
struct LockedSite : Site {
  /// `names` is a PlacedText, or has its members.
  template <class Names>
  constexpr LockedSite(const Names& names, const char* fixed_name, const SiteTypes& types,
                       const reflect::TypeInfo* const* infos, const LockedKey& known,
                       const LockTraits& can, const char* terms) noexcept
      : Site(names.place, fixed_name, names.c_str(), types, &note),
        render(known.render),
        render_all(known.render_all),
        key(known.key),
        note{can.by_policy ? lock_by_kind : lock_kind, known.key.text, nullptr, this},
        argument_infos(infos),
        traits(can),
        said(terms) {}

  void (*render)(KeyBuffer& out, const KeyData& key, const void* const* arguments);
  void (*render_all)(RenderedKeys& keys, const void* const* arguments);
  KeyData key;
  SiteNote note;  ///< without those of aspects inside the LOCKED
  const reflect::TypeInfo* const* argument_infos;
  LockTraits traits;
  const char* said;            ///< type, wait and lease, as they are written after the key
  mutable PolicySlot slot{0};  ///< written when policies are loaded
};

/// Holds the nodes of its key; there are none if the key is not one template. (With -fsanitize, GCC
/// compares no address of a function in a constant expression, so the number of nodes must tell.)
template <std::size_t NodeCount>
struct LockedSiteOf : LockedSite {
  template <class Names>
  constexpr LockedSiteOf(const Names& names, const char* fixed_name, const SiteTypes& types,
                         const reflect::TypeInfo* const* infos, const LockedKey& known,
                         const LockTraits& can, const char* terms) noexcept
      : LockedSite(names, fixed_name, types, infos, known, can, terms) {
    if constexpr (NodeCount > 0) {
      for (std::size_t index = 0; index < NodeCount; ++index) nodes[index] = key.nodes[index];
      key.nodes = nodes;
    }
  }

  Node nodes[std::max<std::size_t>(NodeCount, 1)]{};
};

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop

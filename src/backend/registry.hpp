// Finds the backend for a URI scheme.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/registry.hpp>

namespace latchkey::inline v1::detail {

/// latchkey's own schemes, which others cannot register. The table of Locks::connect has those that
/// this version serves.
inline constexpr std::array<std::string_view, 12> own_schemes{
    "host",      "memory",     "quorum", "redis",          "redis+cluster",   "redis+sentinel",
    "redis+set", "redis+unix", "rediss", "rediss+cluster", "rediss+sentinel", "rediss+set"};

/// A store with a target of its own, which brings its client library. `function` registers it.
struct StoreScheme {
  std::string_view scheme, target, function;
};
inline constexpr std::array store_schemes{
    StoreScheme{"etcd", "latchkey::etcd", "latchkey::register_etcd"},
    StoreScheme{"k8s", "latchkey::kubernetes", "latchkey::register_kubernetes"},
    StoreScheme{"mongodb", "latchkey::mongodb", "latchkey::register_mongodb"},
    StoreScheme{"mysql", "latchkey::mysql", "latchkey::register_mysql"},
    StoreScheme{"postgresql", "latchkey::postgresql", "latchkey::register_postgresql"},
    StoreScheme{"zookeeper", "latchkey::zookeeper", "latchkey::register_zookeeper"},
};

/// Registers the factory of one of these stores, unless it has one. Throws std::bad_alloc.
/// Thread-safe.
void register_store(std::string_view scheme, BackendFactory factory);

/// The store that has this scheme; null: none of them has it.
[[nodiscard]] const StoreScheme* find_store(std::string_view scheme) noexcept;

/// The factory registered for `scheme`; null if there is none. Thread-safe.
[[nodiscard]] BackendFactory find_backend_factory(std::string_view scheme) noexcept;

/// The schemes that were registered. Thread-safe.
[[nodiscard]] std::vector<std::string> registered_schemes();

}  // namespace latchkey::inline v1::detail

// The registry of backends by URI scheme.
// SPDX-License-Identifier: BSL-1.0
#include "backend/registry.hpp"
#include "core/never_destroyed.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace latchkey::inline v1 {
namespace {

struct Entry {
  std::string scheme;
  BackendFactory factory;
};

struct Registry {
  std::mutex mutex;
  std::vector<Entry> entries;  // sorted by scheme

  auto place_of(std::string_view scheme) {
    return std::lower_bound(
        entries.begin(), entries.end(), scheme,
        [](const Entry& entry, std::string_view wanted) { return entry.scheme < wanted; });
  }
};

Registry& registry() {
  // Never destroyed: static objects may connect while others are destroyed.
  static detail::NeverDestroyed<Registry> the;
  return the.get();
}

bool is_scheme(std::string_view text) noexcept {
  const auto letter = [](char byte) { return byte >= 'a' && byte <= 'z'; };
  return !text.empty() && letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char byte) {
           return letter(byte) || (byte >= '0' && byte <= '9') || byte == '+' || byte == '-' ||
                  byte == '.';
         });
}

}  // namespace

void register_backend(std::string scheme, BackendFactory factory) {
  if (!is_scheme(scheme)) {
    throw std::invalid_argument("invalid URI scheme '" + scheme +
                                "'; expected a small letter, then small letters, digits, '+', '-' "
                                "or '.', without the colon");
  }
  const auto& own = detail::own_schemes;
  if (std::find(own.begin(), own.end(), scheme) != own.end()) {
    throw std::invalid_argument("the scheme '" + scheme + "' is latchkey's own: name another");
  }
  if (const detail::StoreScheme* const store = detail::find_store(scheme)) {
    throw std::invalid_argument("the scheme '" + scheme + "' is that of " +
                                std::string(store->target) + ": name another");
  }
  if (factory == nullptr) {
    throw std::invalid_argument("the backend factory for '" + scheme + "' is a null pointer");
  }
  const std::lock_guard lock(registry().mutex);
  const auto place = registry().place_of(scheme);
  if (place != registry().entries.end() && place->scheme == scheme) {
    throw std::invalid_argument("the scheme '" + scheme + "' has a backend already");
  }
  registry().entries.insert(place, {std::move(scheme), factory});
}

void detail::register_store(std::string_view scheme, BackendFactory factory) {
  const std::lock_guard lock(registry().mutex);
  const auto place = registry().place_of(scheme);
  if (place != registry().entries.end() && place->scheme == scheme) return;
  registry().entries.insert(place, {std::string(scheme), factory});
}

const detail::StoreScheme* detail::find_store(std::string_view scheme) noexcept {
  const auto* const found =
      std::find_if(store_schemes.begin(), store_schemes.end(),
                   [&](const StoreScheme& one) { return one.scheme == scheme; });
  return found == store_schemes.end() ? nullptr : found;
}

std::vector<std::string> detail::registered_schemes() {
  const std::lock_guard lock(registry().mutex);
  std::vector<std::string> schemes;
  for (const Entry& entry : registry().entries) schemes.push_back(entry.scheme);
  return schemes;
}

BackendFactory detail::find_backend_factory(std::string_view scheme) noexcept {
  const std::lock_guard lock(registry().mutex);
  const auto place = registry().place_of(scheme);
  const bool found = place != registry().entries.end() && place->scheme == scheme;
  return found ? place->factory : nullptr;
}

}  // namespace latchkey::inline v1

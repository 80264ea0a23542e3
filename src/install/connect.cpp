// Locks::connect: from a URI to a backend.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/registry.hpp>

#include "backend/registry.hpp"
#include "memory/memory_backend.hpp"
#include "redis/redis_backend.hpp"

namespace latchkey {
namespace {

struct Scheme {
  std::string_view name;
  BackendFactory make;
};

/// The one table of built-in schemes. They come before those that were registered.
constexpr std::array built_in{
    Scheme{"memory", &detail::make_memory_backend},
    Scheme{"redis", &detail::redis::make_redis_backend},
    Scheme{"rediss", &detail::redis::make_redis_backend},
    Scheme{"redis+unix", &detail::redis::make_redis_backend},
};

BackendFactory factory_for(std::string_view scheme) {
  for (const Scheme& known : built_in) {
    if (known.name == scheme) return known.make;
  }
  return detail::find_backend_factory(scheme);
}

std::string known_schemes() {
  std::string text;
  for (const std::string& name : backend_schemes()) {
    if (!text.empty()) text += ", ";
    text += name + ":";
  }
  return text;
}

}  // namespace

std::vector<std::string> backend_schemes() {
  std::vector<std::string> names = detail::registered_schemes();
  for (const Scheme& known : built_in) names.emplace_back(known.name);
  std::sort(names.begin(), names.end());
  return names;
}

Locks Locks::connect(std::string_view uri, Options options) {
  const std::size_t colon = uri.find(':');
  if (colon == std::string_view::npos || colon == 0) {
    // Never the whole text: what lacks its scheme may still carry a password.
    throw std::invalid_argument(
        "Locks::connect takes a URI such as \"memory:\" or \"redis://127.0.0.1:6379\": this text "
        "has "
        "no scheme before a colon");
  }
  const std::string_view scheme = uri.substr(0, colon);
  const BackendFactory make = factory_for(scheme);
  if (make == nullptr) {
    throw std::invalid_argument("no backend serves '" + std::string(scheme) +
                                ":'; known are: " + known_schemes());
  }
  auto backend = make(uri, options);
  return Locks(std::move(backend), std::move(options));
}

}  // namespace latchkey

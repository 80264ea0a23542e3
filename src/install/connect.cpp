// Locks::connect: from a URI to a backend.
// SPDX-License-Identifier: BSL-1.0
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/cache1.hpp>
#include <range/v3/view/join.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/quorum.hpp>
#include <latchkey/registry.hpp>

#include "backend/registry.hpp"
#include "core/sanitizer_pause.hpp"
#include "host/host_backend.hpp"
#include "memory/memory_backend.hpp"
#include "redis/redis_backend.hpp"

namespace latchkey::inline v1 {
namespace {

struct Scheme {
  std::string_view name;
  BackendFactory make;
  BackendFactory make_member;  ///< makes a member of a quorum: it may be down at first
};

std::unique_ptr<Backend> make_quorum_backend(std::string_view uri, const Options& options);

/// The one table of built-in schemes. They come before those that were registered.
constexpr std::array built_in{
    Scheme{"host", &detail::host::make_host_backend, &detail::host::make_host_backend},
    Scheme{"memory", &detail::make_memory_backend, &detail::make_memory_backend},
    Scheme{"redis", &detail::redis::make_redis_backend, &detail::redis::make_redis_member},
    Scheme{"redis+cluster", &detail::redis::make_redis_backend, &detail::redis::make_redis_member},
    Scheme{"rediss+cluster", &detail::redis::make_redis_backend, &detail::redis::make_redis_member},
    Scheme{"rediss", &detail::redis::make_redis_backend, &detail::redis::make_redis_member},
    Scheme{"redis+set", &detail::redis::make_redis_backend, &detail::redis::make_redis_member},
    Scheme{"rediss+set", &detail::redis::make_redis_backend, &detail::redis::make_redis_member},
    Scheme{"redis+unix", &detail::redis::make_redis_backend, &detail::redis::make_redis_member},
    Scheme{"redis+sentinel", &detail::redis::make_redis_backend, &detail::redis::make_redis_member},
    Scheme{"rediss+sentinel", &detail::redis::make_redis_backend,
           &detail::redis::make_redis_member},
    Scheme{"quorum", &make_quorum_backend, nullptr},
};

std::string known_schemes() {
  const std::vector<std::string> schemes = backend_schemes();
  return schemes | ranges::views::transform([](const std::string& name) { return name + ":"; }) |
         ranges::views::cache1 | ranges::views::join(std::string_view(", ")) |
         ranges::to<std::string>();
}

std::unique_ptr<Backend> make_backend(std::string_view uri, const Options& options, bool member) {
  const std::size_t colon = uri.find(':');
  if (colon == std::string_view::npos || colon == 0) {
    // The text itself is not shown: without its scheme it may still contain a password.
    throw std::invalid_argument(
        "invalid URI: no scheme before a colon; expected a URI such as \"memory:\" or "
        "\"redis://127.0.0.1:6379\"");
  }
  const std::string_view scheme = uri.substr(0, colon);
  const auto* const known = std::find_if(built_in.begin(), built_in.end(),
                                         [&](const Scheme& one) { return one.name == scheme; });
  if (known == built_in.end()) {
    const BackendFactory make = detail::find_backend_factory(scheme);
    if (make != nullptr) return make(uri, options);
    if (const detail::StoreScheme* const store = detail::find_store(scheme)) {
      throw std::invalid_argument("the scheme '" + std::string(scheme) + ":' needs " +
                                  std::string(store->target) + ": link it and call " +
                                  std::string(store->function) + "() before");
    }
    throw std::invalid_argument("unknown scheme '" + std::string(scheme) + ":'; expected one of " +
                                known_schemes());
  }
  if (!member) return known->make(uri, options);
  if (known->make_member != nullptr) return known->make_member(uri, options);
  throw std::invalid_argument("a '" + std::string(scheme) +
                              ":' cannot be one of a quorum's servers");
}

/// The address of a server without what does not tell servers apart: its database, and by which
/// name this machine is meant. Empty: it has neither an address nor a name.
std::string place_of(const Backend& server) {
  std::string place = server.describe();
  const std::size_t host = place.find("://");
  if (host == std::string::npos) return place.ends_with(':') ? std::string() : place;
  place.erase(0, host + 3);
  place.erase(std::min(place.find('?'), place.size()));
  const std::size_t database = place.find_last_not_of("0123456789");
  if (database != std::string::npos && database > 0 && place[database] == '/') {
    place.erase(database);
  }
  for (const std::string_view name : {"localhost:", "[::1]:"}) {
    if (place.starts_with(name)) return "127.0.0.1:" + place.substr(name.size());
  }
  return place;
}

/// Throws std::invalid_argument if `added` has the address of one of `servers`.
void require_another_place(const std::vector<std::unique_ptr<Backend>>& servers,
                           const Backend& added) {
  const std::string place = place_of(added);
  if (place.empty()) return;
  for (const auto& server : servers) {
    if (place_of(*server) != place) continue;
    throw std::invalid_argument("quorum: '" + server->describe() + "' and '" + added.describe() +
                                "' are one server, which would vote twice; expected independent "
                                "servers");
  }
}

/// "quorum:" and the URIs of the servers, separated by spaces.
std::unique_ptr<Backend> make_quorum_backend(std::string_view uri, const Options& options) {
  std::vector<std::unique_ptr<Backend>> servers;
  std::string_view rest = uri.substr(uri.find(':') + 1);
  for (;;) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    if (rest.empty()) break;
    const std::string_view one = rest.substr(0, rest.find(' '));
    auto server = make_backend(one, options, true);
    require_another_place(servers, *server);
    servers.push_back(std::move(server));
    rest.remove_prefix(one.size());
  }
  return make_quorum(std::move(servers), options);
}

}  // namespace

std::vector<std::string> backend_schemes() {
  std::vector<std::string> names = detail::registered_schemes();
  for (const Scheme& known : built_in) names.emplace_back(known.name);
  std::sort(names.begin(), names.end());
  return names;
}

Locks Locks::connect(std::string_view uri, Options options) {
  const detail::SanitizerPause pause;
  auto backend = make_backend(uri, options, false);
  return Locks(std::move(backend), std::move(options));
}

}  // namespace latchkey::inline v1

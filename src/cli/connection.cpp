// Chooses the backend of a command and connects to it.
// SPDX-License-Identifier: BSL-1.0
#include "cli/connection.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

#include "backend/registry.hpp"
#include "policy/reader.hpp"
#include "policy/secrets.hpp"

namespace latchkey::inline v1::cli {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError("cannot read '" + path + "'");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The default backend of a policy file. Its rules are not checked, unlike in `latchkey check`:
/// they name methods of a program that is not available here.
Place place_in(const std::string& path) {
  detail::Problems problems;
  const detail::PolicyFile file =
      detail::read_policies(read_file(path), detail::process_environment, problems);
  if (!problems.empty()) {
    const detail::Problem& first = problems.front();
    throw UsageError(path + ':' + std::to_string(first.at.line) + ':' +
                     std::to_string(first.at.column) + ": " + first.sentence);
  }
  const detail::BackendEntry* const backend = file.default_backend();
  if (backend == nullptr) {
    throw UsageError(path + ": names no default backend; expected 'backend: <name>'");
  }
  return {backend->uri.value, file.prefix ? file.prefix->value : std::string()};
}

void refuse_absent_store(const std::string& uri) {
  const std::string scheme = uri.substr(0, uri.find(':'));
  const detail::StoreScheme* const store = detail::find_store(scheme);
  if (store == nullptr || detail::find_backend_factory(scheme) != nullptr) return;
  throw UsageError("this latchkey was built without " + std::string(store->target) + ", which '" +
                   scheme + ":' needs: build it where that store's client library is installed");
}

}  // namespace

Place choose_place(const ConnectionOptions& options) {
  Place place;
  if (!options.config.empty()) place = place_in(options.config);
  if (!options.uri.empty()) place.uri = options.uri;
  if (place.uri.empty()) {
    if (const char* const uri = std::getenv("LATCHKEY_URI")) place.uri = uri;
  }
  if (place.uri.empty()) {
    throw UsageError(
        "no backend is named; expected a URI such as redis://127.0.0.1:6379, --config FILE, or "
        "the environment variable LATCHKEY_URI");
  }
  if (!options.prefix.empty()) place.prefix = options.prefix;
  return place;
}

Locks connect(const Place& place, Options options) {
  options.prefix = place.prefix;
  refuse_absent_store(place.uri);
  try {
    return Locks::connect(place.uri, std::move(options));
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

}  // namespace latchkey::inline v1::cli

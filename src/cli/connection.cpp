// Chooses the backend of a command and connects to it.
// SPDX-License-Identifier: BSL-1.0
#include "cli/connection.hpp"

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include <latchkey/listener.hpp>

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

/// The options of the command line under the names that the library's messages use.
std::string in_words_of_the_tool(std::string sentence) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {
      {"Options::watchdog", "--watchdog"},
      {"Options::prefix", "--prefix"},
  };
  for (const auto& [name, option] : names) {
    const std::size_t at = sentence.find(name);
    if (at != std::string::npos) sentence.replace(at, name.size(), option);
  }
  return sentence;
}

void refuse_absent_store(const std::string& uri) {
  const std::string scheme = uri.substr(0, uri.find(':'));
  const detail::StoreScheme* const store = detail::find_store(scheme);
  if (store == nullptr || detail::find_backend_factory(scheme) != nullptr) return;
  throw UsageError(
      "this latchkey was built without the store of '" + scheme +
      ":'; expected one that was built where that store's client library is installed");
}

class SilentListener final : public Listener {
 public:
  void on_event(const Event& /*event*/) override {}
  [[nodiscard]] bool wants_everything() const noexcept override { return false; }
};

}  // namespace

void add_connection_words(CLI::App& command, ConnectionOptions& options) {
  command
      .add_option("uri", options.uri,
                  "Where the locks live, such as redis://127.0.0.1:6379 (default: the backend "
                  "of --config, then $LATCHKEY_URI)")
      ->type_name("URI");
  command
      .add_option("--config,-c", options.config, "A latchkey.yaml whose default backend is used")
      ->type_name("FILE");
  command
      .add_option("--prefix", options.prefix, "Put before every key (default: that of --config)")
      ->type_name("TEXT");
}

bool is_uri(const std::string& text) {
  return text.find("://") != std::string::npos || text.starts_with("host:") ||
         text.starts_with("memory:") || text.starts_with("quorum:");
}

bool is_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const std::string port = colon == std::string::npos ? std::string() : text.substr(colon + 1);
  return !port.empty() && port.size() <= 5 && !is_uri(text) &&
         port.find_first_not_of("0123456789") == std::string::npos;
}

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
  if (is_address(place.uri)) {
    throw UsageError("'" + place.uri + "' has no scheme; expected a URI, as in redis://" +
                     place.uri);
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
    throw UsageError(in_words_of_the_tool(error.what()));
  }
}

Listener* silent_listener() noexcept {
  static SilentListener one;
  return &one;
}

}  // namespace latchkey::inline v1::cli

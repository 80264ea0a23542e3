// Chooses the backend of a command and connects to it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <stdexcept>
#include <string>

#include <latchkey/locks.hpp>

namespace CLI {
class App;
}

namespace latchkey::inline v1::cli {

/// An invalid command line, or an invalid file that it names: exit status 64.
class UsageError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// The options of the command line that choose the backend.
struct ConnectionOptions {
  std::string uri;     ///< empty: $LATCHKEY_URI, or the default backend of `config`
  std::string config;  ///< a policy file; empty: none
  std::string prefix;  ///< put before every key; empty: that of `config`
};

/// A backend that is chosen but not connected yet.
struct Place {
  std::string uri;
  std::string prefix;
};

/// Adds the URI, --config and --prefix to a command. `options` must outlive it.
void add_connection_words(CLI::App& command, ConnectionOptions& options);

/// Whether the text is a URI of a backend, and not a pattern, a host or a command.
[[nodiscard]] bool is_uri(const std::string& text);
/// Whether the text may be a host and a port, as in "localhost:6379".
[[nodiscard]] bool is_address(const std::string& text);

/// The URI on the command line takes precedence, then --config, then $LATCHKEY_URI. Throws
/// UsageError if there is none, or if the file has an error.
[[nodiscard]] Place choose_place(const ConnectionOptions& options);

/// Throws UsageError, BackendUnavailable, BackendRefused.
[[nodiscard]] Locks connect(const Place& place, Options options = {});

/// For Options::listener of a command whose stderr belongs to something else: drops all events.
/// Without a listener, warnings go to stderr. It outlives all Locks.
[[nodiscard]] Listener* silent_listener() noexcept;

}  // namespace latchkey::inline v1::cli

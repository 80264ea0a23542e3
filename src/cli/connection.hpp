// Where the locks live that a command works on.
#pragma once

#include <stdexcept>
#include <string>

#include <latchkey/locks.hpp>

namespace latchkey::cli {

/// A command line, or a file that it names, which makes no sense: exit status 64.
class UsageError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// What the command line says about the backend.
struct ConnectionOptions {
  std::string uri;     ///< empty: $LATCHKEY_URI, or the default backend of `config`
  std::string config;  ///< a policy file; empty: none
  std::string prefix;  ///< put before every key; empty: that of `config`
};

/// A backend that has been chosen and not yet connected to.
struct Place {
  std::string uri;
  std::string prefix;
};

/// The URI on the command line wins, then --config, then $LATCHKEY_URI. Throws UsageError when
/// there is none, or when the file has a mistake.
[[nodiscard]] Place choose_place(const ConnectionOptions& options);

/// Throws UsageError, BackendUnavailable, BackendRefused.
[[nodiscard]] Locks connect(const Place& place, Options options = {});

}  // namespace latchkey::cli

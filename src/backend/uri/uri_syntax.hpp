// The syntax that the URIs of all stores have in common.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::inline v1::detail {

struct UriEndpoint {
  std::string host;  ///< without brackets
  std::uint16_t port = 0;

  /// `host:port`, an IPv6 address in brackets.
  [[nodiscard]] std::string text() const;
  friend bool operator==(const UriEndpoint&, const UriEndpoint&) = default;
};

/// `host:port,host:port`
[[nodiscard]] std::string host_list(std::span<const UriEndpoint> endpoints);

/// `[user][:password]@hosts/path?options`, the parts of RFC 3986. Hosts, path and options are not
/// decoded yet.
struct UriParts {
  std::string user, password;
  std::string_view hosts;
  std::string_view path;     ///< empty, or with its '/'
  std::string_view options;  ///< without the '?'
  bool has_options = false;
};

/// `name=value`, not decoded yet.
struct UriOption {
  std::string_view name, value;
};

/// Reads the URIs of one store, whose name appears in messages. All members throw
/// std::invalid_argument with one sentence, which contains neither user nor password.
class UriSyntax {
 public:
  /// `store`: what messages call the URI, such as "etcd" or "rediss://"; `example`: a URI.
  constexpr UriSyntax(std::string_view store, std::string_view example) noexcept
      : store_(store), example_(example) {}

  /// Splits a URI whose `text` begins after the "://".
  [[nodiscard]] UriParts split(std::string_view text) const;
  /// The percent-decoded `text`. `part` is its name for the message, such as "password".
  [[nodiscard]] std::string decoded(std::string_view text, std::string_view part) const;
  /// Reads `host[:port]`.
  [[nodiscard]] UriEndpoint endpoint(std::string_view text, std::uint16_t default_port) const;
  /// Reads endpoints that are separated by commas.
  [[nodiscard]] std::vector<UriEndpoint> endpoints(std::string_view text,
                                                   std::uint16_t default_port) const;
  /// Reads options that are separated by '&'. Each has a value.
  [[nodiscard]] std::vector<UriOption> options(std::string_view text) const;
  /// The value of an option that is a time of `least` to `most`, spelled as in a policy file:
  /// 250ms, 3s, 5m. `expected`: what is right, as a clause.
  [[nodiscard]] std::chrono::milliseconds duration(const UriOption& option,
                                                   std::chrono::milliseconds least,
                                                   std::chrono::milliseconds most,
                                                   std::string_view expected) const;
  /// For an option that the store does not know. `known`: the names of those that it does.
  [[noreturn]] void refuse_option(std::string_view name, std::string_view known) const;
  /// For an option that an earlier version had by another name.
  [[noreturn]] void refuse_old_name(std::string_view name, std::string_view new_name) const;
  /// For an option that this URI cannot have. `needs`: what it lacks, such as "rediss://".
  [[noreturn]] void refuse_without(std::string_view name, std::string_view needs) const;
  /// For an option with a wrong value. `expected`: what is right, as a clause.
  [[noreturn]] void refuse_value(std::string_view option, std::string_view value,
                                 std::string_view expected) const;

 private:
  [[nodiscard]] std::string uri() const;
  [[nodiscard]] std::uint16_t port(std::string_view text) const;

  std::string_view store_, example_;
};

}  // namespace latchkey::inline v1::detail

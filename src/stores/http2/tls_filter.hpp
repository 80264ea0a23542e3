// TLS between plain bytes and those of the network, with OpenSSL.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "backend/connection/made_of_files.hpp"
#include "backend/uri/tls_options.hpp"

// OpenSSL's names of its types. Only tls_filter.cpp includes its headers.
struct ssl_ctx_st;  // NOLINT(readability-identifier-naming)
struct ssl_st;      // NOLINT(readability-identifier-naming)

namespace latchkey::inline v1::detail::http2 {

/// How the messages of a store call it, and how its URIs say whether TLS is spoken.
struct StoreWords {
  std::string_view name;         ///< such as "etcd"
  std::string_view protocol;     ///< such as "gRPC"
  std::string_view without_tls;  ///< such as "etcd://"
  std::string_view with_tls;     ///< such as "etcds://"
};

struct FreeTlsContext {
  void operator()(ssl_ctx_st* context) const noexcept;
};

/// The certificates and keys of a URI. Files that have changed are read again for the next
/// connection.
class TlsContext {
 public:
  /// Throws std::invalid_argument if a file cannot be used: the option, the file and the reason.
  TlsContext(const TlsOptions& options, const StoreWords& words);

  /// Made of the files as they are now, or of earlier ones: see `problem`.
  [[nodiscard]] ssl_ctx_st& current() { return *files_.current(); }
  [[nodiscard]] const std::string& problem() const noexcept { return files_.problem(); }
  /// The name that the server's certificate must be for; empty: the host's.
  [[nodiscard]] const std::string& server_name() const noexcept { return server_name_; }
  /// A hint for a server that speaks no TLS: empty once a handshake with it was complete.
  [[nodiscard]] std::string hint() const {
    if (has_worked_) return {};
    return " (" + std::string(words_.without_tls) + " is without TLS, " +
           std::string(words_.with_tls) + " with it)";
  }
  void works() noexcept { has_worked_ = true; }

 private:
  MadeOfFiles<std::unique_ptr<ssl_ctx_st, FreeTlsContext>> files_;
  const std::string server_name_;
  const StoreWords words_;
  bool has_worked_ = false;
};

/// One TLS session, without a socket: it is given what was received, and gives what is to be sent.
/// All members that return State throw std::bad_alloc.
class TlsFilter {
 public:
  enum class State : std::uint8_t { shaking_hands, ready, ended, broken };

  /// The server's certificate must be for `host`, or for the name that the context demands.
  TlsFilter(TlsContext& context, const std::string& host);

  /// Continues the handshake.
  State shake_hands(std::string_view received, std::string& to_send);
  /// After the handshake. Appends the plain bytes of `received`.
  State decrypt(std::string_view received, std::string& plain, std::string& to_send);
  State encrypt(std::string_view plain, std::string& to_send);

  /// Why it is broken: a clause.
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

 private:
  struct Free {
    void operator()(ssl_st* session) const noexcept;
  };
  void feed(std::string_view received);
  void drain(std::string& to_send);

  [[nodiscard]] std::string handshake_failure() const;

  TlsContext& context_;
  const std::string host_;
  std::string problem_;  ///< with the files of the URI: a clause behind a semicolon
  std::unique_ptr<ssl_st, Free> session_;
  std::string failure_;
};

}  // namespace latchkey::inline v1::detail::http2

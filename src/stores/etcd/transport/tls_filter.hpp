// TLS between plain bytes and those of the network, with OpenSSL.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

// OpenSSL's names of its types. Only tls_filter.cpp includes its headers.
struct ssl_ctx_st;  // NOLINT(readability-identifier-naming)
struct ssl_st;      // NOLINT(readability-identifier-naming)

namespace latchkey::inline v1::detail::etcd {

struct TlsFiles {
  bool used = false;
  std::string authority, certificate, key;  ///< empty: the system's, none, none
};

/// The certificates and keys of a URI, read once.
class TlsContext {
 public:
  /// Throws std::invalid_argument if a file cannot be used: the option, the file and the reason.
  explicit TlsContext(const TlsFiles& files);

  [[nodiscard]] ssl_ctx_st& get() const noexcept { return *context_; }

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const noexcept;
  };
  std::unique_ptr<ssl_ctx_st, Free> context_;
};

/// One TLS session, without a socket: it is given what was received, and gives what is to be sent.
/// All members that return State throw std::bad_alloc.
class TlsFilter {
 public:
  enum class State : std::uint8_t { shaking_hands, ready, ended, broken };

  /// The server's certificate must be for `host`.
  TlsFilter(const TlsContext& context, std::string host);

  /// Goes on with the handshake.
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

  const std::string host_;
  std::unique_ptr<ssl_st, Free> session_;
  std::string failure_;
};

}  // namespace latchkey::inline v1::detail::etcd

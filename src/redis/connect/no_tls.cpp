// Stands in for tls.cpp in a build without OpenSSL (LATCHKEY_TLS=OFF).
// SPDX-License-Identifier: BSL-1.0
#include <stdexcept>
#include <utility>

#include "redis/connect/tls.hpp"

namespace latchkey::inline v1::detail::redis {
namespace {

constexpr const char* why =
    "this latchkey was built without OpenSSL (LATCHKEY_TLS=OFF); build it with LATCHKEY_TLS=ON";

}  // namespace

void FreeTlsContext::operator()(ssl_ctx_st* /*context*/) const noexcept {}

void FreeTlsSession::operator()(ssl_st* /*session*/) const noexcept {}

TlsContext::TlsContext(const TlsOptions& /*options*/)
    : files_({}, []() -> std::unique_ptr<ssl_ctx_st, FreeTlsContext> {
        throw std::invalid_argument(std::string("cannot connect over TLS, as rediss:// demands: ") +
                                    why);
      }) {}

// There is no session without a context. So these are never called; they would report the reason.
TlsSession::TlsSession(const TlsContext& context, int socket, std::string name)
    : context_(context), socket_(socket), name_(std::move(name)) {}

Failure TlsSession::handshake_failure(std::string_view /*reason*/) const {
  return no_tls(why, false);
}

Io TlsSession::shake_hands() { return Io::broken(handshake_failure({})); }

Io TlsSession::read(std::span<char> /*bytes*/) { return Io::broken(handshake_failure({})); }

Io TlsSession::write(std::string_view /*bytes*/) { return Io::broken(handshake_failure({})); }

void TlsSession::send_close_notify() noexcept {}

}  // namespace latchkey::inline v1::detail::redis

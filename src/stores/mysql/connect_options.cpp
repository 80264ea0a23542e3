// How a connection is made: by the URI alone.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mysql/connect_options.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include <latchkey/detail/in_quotes.hpp>
#include "stores/mysql/server_errors.hpp"

namespace latchkey::inline v1::detail::mysql {
namespace {

const char* or_null(const std::string& text) noexcept {
  return text.empty() ? nullptr : text.c_str();
}

/// The longest row, or other packet.
constexpr std::size_t longest_packet = std::size_t{16} << 20;

/// The plugins by which the client proves who it is without the password itself on the wire.
constexpr const char* plugins_without_tls =
    "mysql_native_password,client_ed25519,parsec,caching_sha2_password,sha256_password,"
    "auth_gssapi_client";
/// With TLS, also those that send the password as it is, as PAM needs it.
constexpr const char* plugins_with_tls =
    "mysql_native_password,client_ed25519,parsec,caching_sha2_password,sha256_password,"
    "auth_gssapi_client,mysql_clear_password,dialog";

void set_all(MYSQL* mysql, const MysqlUri& uri) {
  const unsigned off = 0;
  const my_bool on = 1;
  const unsigned protocol = uri.socket.empty() ? MYSQL_PROTOCOL_TCP : MYSQL_PROTOCOL_SOCKET;
  mysql_options(mysql, MYSQL_OPT_NONBLOCK, nullptr);
  mysql_options(mysql, MYSQL_OPT_PROTOCOL, &protocol);
  mysql_options(mysql, MYSQL_OPT_LOCAL_INFILE, &off);
  mysql_options(mysql, MYSQL_OPT_MAX_ALLOWED_PACKET, &longest_packet);
  mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  if (uri.socket.empty()) {
    mysql_options(mysql, MARIADB_OPT_RESTRICTED_AUTH,
                  uri.has_tls() ? plugins_with_tls : plugins_without_tls);
  }
  // Connector/C 3.4 verifies by default, and then refuses a server without TLS.
  const my_bool verifies = uri.has_tls() ? 1 : 0;
  mysql_options(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &verifies);
  if (!uri.has_tls()) return;
  // If Connector/C is given no authorities, it accepts a certificate that none has signed: from 3.4
  // on that of a server on this machine, or of one that knows the user's password.
  const std::string authorities = uri.tls.ca.empty() ? system_authorities() : uri.tls.ca;
  mysql_ssl_set(mysql, or_null(uri.tls.key), or_null(uri.tls.certificate), or_null(authorities),
                nullptr, nullptr);
  mysql_options(mysql, MYSQL_OPT_SSL_ENFORCE, &on);
  mysql_options(mysql, MARIADB_OPT_TLS_VERSION, "TLSv1.2,TLSv1.3");
}

/// Connector/C 3.4 does not verify anything if this is set.
constexpr const char* no_verification = "MARIADB_TLS_DISABLE_PEER_VERIFICATION";
bool is_unverified() noexcept { return std::getenv(no_verification) != nullptr; }

/// Connector/C connects without a certificate that it cannot read, if the server has no TLS.
SqlError unreadable_file(const MysqlUri& uri) {
  const std::pair<const char*, const std::string&> files[] = {
      {"tls_ca", uri.tls.ca}, {"tls_cert", uri.tls.certificate}, {"tls_key", uri.tls.key}};
  for (const auto& [option, file] : files) {
    if (file.empty() || ::faccessat(AT_FDCWD, file.c_str(), R_OK, AT_EACCESS) == 0) continue;
    const std::string why = std::system_category().message(errno);
    return {unreadable, "the file " + in_quotes(file) + " of the option " + in_quotes(option) +
                            " cannot be read: " + why};
  }
  return {};
}

/// Connector/C would take the name from the environment.
std::string own_name() {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> room{};
  ::getpwuid_r(::geteuid(), &entry, room.data(), room.size(), &found);
  return found != nullptr ? found->pw_name : std::to_string(::geteuid());
}

}  // namespace

SqlError set_options(MYSQL* mysql, MysqlUri& uri) {
  if (uri.user.empty()) uri.user = own_name();
  set_all(mysql, uri);
  if (uri.has_tls() && is_unverified()) {
    return {unreadable, std::string("the environment variable ") + no_verification +
                            " switches off the verification of the server's certificate; unset it"};
  }
  return unreadable_file(uri);
}

}  // namespace latchkey::inline v1::detail::mysql

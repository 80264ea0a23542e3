// The parts of a mysql:// URI.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mysql/uri.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>

#include <latchkey/detail/in_quotes.hpp>
#include "backend/uri/uri_options.hpp"

namespace latchkey::inline v1::detail::mysql {
namespace {

constexpr std::string_view scheme = "mysql://";
constexpr UriSyntax syntax{"MySQL", "mysql://127.0.0.1:3306/app"};
constexpr std::uint16_t default_port = 3306;

[[noreturn]] void refuse(const std::string& sentence) { throw std::invalid_argument(sentence); }

/// The table becomes a part of SQL statements.
void store_table(MysqlUri& uri, const UriValue& value) {
  const auto fits = [](char sign) {
    return (sign >= 'a' && sign <= 'z') || (sign >= 'A' && sign <= 'Z') ||
           (sign >= '0' && sign <= '9') || sign == '_' || sign == '$';
  };
  if (value.text().size() > 64 || !std::ranges::all_of(value.text(), fits)) {
    value.refuse("a name of letters, digits, '_' and '$'");
  }
  uri.table = value.text();
}

using MysqlOption = KnownOption<MysqlUri>;
constexpr std::array uri_options{
    MysqlOption{"create", &store_value<&MysqlUri::create>},
    lock_schema<MysqlUri>,
    MysqlOption{"table", &store_table},
    MysqlOption{"poll",
                [](MysqlUri& uri, const UriValue& value) {
                  uri.poll = value.duration(std::chrono::milliseconds(1), std::chrono::seconds(1),
                                            "a time from 1ms to 1s");
                }},
    MysqlOption{"socket", &store_value<&MysqlUri::socket>},
    tls_ca<MysqlUri>,
    tls_cert<MysqlUri>,
    tls_key<MysqlUri>,
};

/// Connector/C reads several hosts, options and plugins out of a host that has one of these signs.
UriEndpoint one_host(UriEndpoint endpoint) {
  if (endpoint.host.find_first_of(",;=/") != std::string::npos) {
    refuse("invalid host " + in_quotes(endpoint.host) +
           " in the MySQL URI; expected the name or the address of one host");
  }
  return endpoint;
}

}  // namespace

MysqlUri MysqlUri::parse(std::string_view text) {
  if (!text.starts_with(scheme)) {
    refuse("a MySQL URI begins with mysql://, as in mysql://127.0.0.1:3306/app");
  }
  const UriParts parts = syntax.split(text.substr(scheme.size()));
  MysqlUri uri;
  uri.user = parts.user;
  uri.password = parts.password;
  uri.host = one_host(syntax.endpoint(parts.hosts, default_port));
  if (parts.path.size() > 1) uri.database = syntax.decoded(parts.path.substr(1), "database");
  if (uri.database.empty() || uri.database.find('/') != std::string::npos) {
    refuse("missing database in the MySQL URI; example: mysql://127.0.0.1:3306/app");
  }
  read_options(syntax, parts, uri_options, uri);
  uri.tls.complete(syntax);
  if (uri.schema == LockSchema::shedlock && uri.create) {
    refuse("create=yes creates latchkey's own tables; leave it out with schema=shedlock");
  }
  if (!uri.socket.empty() && uri.host.host != "localhost") {
    refuse("invalid host " + in_quotes(uri.host.host) +
           " in the MySQL URI; expected localhost, because 'socket' names a Unix socket");
  }
  return uri;
}

std::string MysqlUri::describe() const {
  const std::string place = socket.empty() ? host.text() : "localhost";
  std::string text = std::string(scheme) + place + "/" + database;
  if (schema == LockSchema::shedlock) text += "?schema=shedlock";
  return text;
}

}  // namespace latchkey::inline v1::detail::mysql

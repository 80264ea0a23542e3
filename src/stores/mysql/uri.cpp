// The parts of a mysql:// URI.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mysql/uri.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include <latchkey/in_quotes.hpp>

namespace latchkey::inline v1::detail::mysql {
namespace {

constexpr std::string_view scheme = "mysql://";
constexpr UriSyntax syntax{"MySQL", "mysql://127.0.0.1:3306/app"};
constexpr std::uint16_t default_port = 3306;

[[noreturn]] void refuse(const std::string& sentence) { throw std::invalid_argument(sentence); }

bool yes_or_no(std::string_view name, std::string_view value) {
  if (value != "yes" && value != "no") {
    syntax.refuse_value(name, value, "yes or no");
  }
  return value == "yes";
}

std::string table_name(std::string name) {
  const auto fits = [](char sign) {
    return (sign >= 'a' && sign <= 'z') || (sign >= 'A' && sign <= 'Z') ||
           (sign >= '0' && sign <= '9') || sign == '_' || sign == '$';
  };
  if (name.size() > 64 || !std::ranges::all_of(name, fits)) {
    syntax.refuse_value("table", name, "a name of letters, digits, '_' and '$'");
  }
  return name;
}

/// Connector/C reads several hosts, options and plugins out of a host that has one of these signs.
UriEndpoint one_host(UriEndpoint endpoint) {
  if (endpoint.host.find_first_of(",;=/") != std::string::npos) {
    refuse("invalid host " + in_quotes(endpoint.host) +
           " in the MySQL URI; expected the name or the address of one host");
  }
  return endpoint;
}

void read_option(MysqlUri& uri, const UriOption& option) {
  std::string value = syntax.decoded(option.value, "option " + in_quotes(option.name));
  if (option.name == "create") {
    uri.create = yes_or_no(option.name, value);
  } else if (option.name == "poll") {
    using std::chrono::milliseconds;
    uri.poll = syntax.duration({option.name, value}, milliseconds(1), milliseconds(1000),
                               "a time from 1ms to 1000ms");
  } else if (option.name == "socket") {
    uri.socket = std::move(value);
  } else if (option.name == "ssl_ca") {
    uri.ssl_ca = std::move(value);
  } else if (option.name == "ssl_cert") {
    uri.ssl_cert = std::move(value);
  } else if (option.name == "ssl_key") {
    uri.ssl_key = std::move(value);
  } else if (option.name == "table") {
    uri.table = table_name(std::move(value));
  } else if (option.name == "schema") {
    if (value != "shedlock" && value != "latchkey") {
      syntax.refuse_value(option.name, value, "latchkey or shedlock");
    }
    uri.schema = value == "shedlock" ? MysqlUri::Schema::shedlock : MysqlUri::Schema::latchkey;
  } else {
    syntax.refuse_option(option.name,
                         "create, schema, table, poll, socket, ssl_ca, ssl_cert, ssl_key");
  }
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
  if (parts.has_options) {
    for (const UriOption& option : syntax.options(parts.options)) read_option(uri, option);
  }
  if (uri.schema == Schema::shedlock && uri.create) {
    refuse("create=yes creates latchkey's own tables; leave it out with schema=shedlock");
  }
  if (!uri.socket.empty() && uri.host.host != "localhost") {
    refuse("invalid host " + in_quotes(uri.host.host) +
           " in the MySQL URI; expected localhost, because 'socket' names a Unix socket");
  }
  if (uri.ssl_cert.empty() != uri.ssl_key.empty()) {
    refuse("the options 'ssl_cert' and 'ssl_key' of a MySQL URI must be given together");
  }
  return uri;
}

std::string MysqlUri::describe() const {
  const std::string place = socket.empty() ? host.text() : "localhost";
  std::string text = std::string(scheme) + place + "/" + database;
  if (schema == Schema::shedlock) text += "?schema=shedlock";
  return text;
}

}  // namespace latchkey::inline v1::detail::mysql

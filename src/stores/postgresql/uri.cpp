// Reads postgresql:// URIs.
// SPDX-License-Identifier: BSL-1.0
#include "stores/postgresql/uri.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <latchkey/in_quotes.hpp>

namespace latchkey::inline v1::detail::postgresql {
namespace {

constexpr std::uint16_t default_port = 5432;
constexpr UriSyntax syntax("PostgreSQL", "postgresql://user:password@localhost:5432/database");
constexpr std::array<std::string_view, 7> passed_on = {
    "sslmode", "sslrootcert", "sslcert", "sslkey", "application_name", "passfile", "krbsrvname"};

[[noreturn]] void refuse(const std::string& sentence) { throw std::invalid_argument(sentence); }

/// One of two words.
bool is_first(std::string_view name, std::string_view value, std::string_view first,
              std::string_view second) {
  if (value != first && value != second) {
    syntax.refuse_value(name, value, std::string(first) + " or " + std::string(second));
  }
  return value == first;
}

/// It becomes a part of SQL statements.
std::string checked_table(const std::string& name) {
  const auto is_letter = [](char one) {
    return one == '_' || (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z');
  };
  bool begins = true, good = true;
  for (const char one : name) {
    const bool digit = one >= '0' && one <= '9';
    good = good && (is_letter(one) || (!begins && (digit || one == '.')));
    begins = one == '.';
  }
  if (!good || begins || std::ranges::count(name, '.') > 1) {
    syntax.refuse_value("table", name, "a name of letters, digits and '_', or schema.table");
  }
  return name;
}

void read_option(PostgresqlUri& uri, const UriOption& option, bool& names_table) {
  const std::string value = syntax.decoded(option.value, option.name);
  if (option.name == "schema") {
    const bool shedlock = is_first(option.name, value, "shedlock", "latchkey");
    uri.schema = shedlock ? PostgresqlUri::Schema::shedlock : PostgresqlUri::Schema::latchkey;
  } else if (option.name == "table") {
    uri.table = checked_table(value);
    names_table = true;
  } else if (option.name == "create") {
    uri.create = is_first(option.name, value, "yes", "no");
  } else if (option.name == "pooler") {
    uri.session_pooler = is_first(option.name, value, "session", "none");
  } else if (option.name == "host") {
    uri.hosts.push_back({value, default_port});
  } else if (std::ranges::find(passed_on, option.name) != passed_on.end()) {
    uri.parameters.emplace_back(option.name, value);
  } else {
    syntax.refuse_option(option.name,
                         "schema, table, create, pooler, host, sslmode, sslrootcert, "
                         "sslcert, sslkey, application_name, passfile, krbsrvname");
  }
}

}  // namespace

PostgresqlUri PostgresqlUri::parse(std::string_view uri) {
  constexpr std::string_view begin = "postgresql://";
  if (!uri.starts_with(begin)) refuse("a PostgreSQL URI begins with postgresql://");
  UriParts parts = syntax.split(uri.substr(begin.size()));
  PostgresqlUri read;
  read.user = std::move(parts.user);
  read.password = std::move(parts.password);
  bool names_table = false;
  if (parts.has_options) {
    for (const UriOption& option : syntax.options(parts.options)) {
      read_option(read, option, names_table);
    }
  }
  if (!parts.hosts.empty() || read.hosts.empty()) {
    read.hosts = syntax.endpoints(parts.hosts, default_port);
  }
  if (!parts.path.empty()) read.database = syntax.decoded(parts.path.substr(1), "database");
  if (read.database.find('/') != std::string::npos) {
    refuse("invalid database " + in_quotes(read.database) +
           " in the PostgreSQL URI; expected a name");
  }
  const bool shedlock = read.schema == Schema::shedlock;
  if (names_table && !shedlock) {
    refuse("the option 'table' needs the option schema=shedlock");
  }
  if (read.create && shedlock) {
    refuse("create=yes creates latchkey's own tables; leave it out with schema=shedlock");
  }
  return read;
}

std::string PostgresqlUri::describe() const {
  std::string text = "postgresql://";
  for (const UriEndpoint& host : hosts) {
    if (&host != &hosts.front()) text += ',';
    text += host.text();
  }
  text += '/' + database;
  if (schema == Schema::shedlock) text += " (ShedLock's table " + table + ')';
  return text;
}

}  // namespace latchkey::inline v1::detail::postgresql

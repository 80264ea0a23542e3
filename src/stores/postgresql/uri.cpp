// Reads postgresql:// URIs.
// SPDX-License-Identifier: BSL-1.0
#include "stores/postgresql/uri.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <latchkey/detail/in_quotes.hpp>
#include "backend/uri/uri_options.hpp"

namespace latchkey::inline v1::detail::postgresql {
namespace {

constexpr std::uint16_t default_port = 5432;
constexpr UriSyntax syntax("PostgreSQL", "postgresql://user:password@localhost:5432/database");

[[noreturn]] void refuse(const std::string& sentence) { throw std::invalid_argument(sentence); }

/// The table becomes a part of SQL statements.
void store_table(PostgresqlUri& uri, const UriValue& value) {
  const auto is_letter = [](char one) {
    return one == '_' || (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z');
  };
  bool begins = true, good = true;
  for (const char one : value.text()) {
    const bool digit = one >= '0' && one <= '9';
    good = good && (is_letter(one) || (!begins && (digit || one == '.')));
    begins = one == '.';
  }
  if (!good || begins || std::ranges::count(value.text(), '.') > 1) {
    value.refuse("a name of letters, digits and '_', or schema.table");
  }
  uri.table = value.text();
}

void pass_on(PostgresqlUri& uri, const UriValue& value) {
  uri.parameters.emplace_back(value.name(), value.text());
}

using PostgresqlOption = KnownOption<PostgresqlUri>;
constexpr std::array uri_options{
    lock_schema<PostgresqlUri>,
    PostgresqlOption{"table", &store_table},
    PostgresqlOption{"create", &store_value<&PostgresqlUri::create>},
    PostgresqlOption{"pooler",
                     [](PostgresqlUri& uri, const UriValue& value) {
                       uri.session_pooler =
                           value.one_of<bool>({{"session", true}, {"none", false}});
                     }},
    PostgresqlOption{"host",
                     [](PostgresqlUri& uri, const UriValue& value) {
                       uri.hosts.push_back({value.text(), default_port});
                     }},
    tls_ca<PostgresqlUri>,
    tls_cert<PostgresqlUri>,
    tls_key<PostgresqlUri>,
    PostgresqlOption{"sslmode", &pass_on},
    PostgresqlOption{"sslrootcert", &pass_on},
    PostgresqlOption{"sslcert", &pass_on},
    PostgresqlOption{"sslkey", &pass_on},
    PostgresqlOption{"application_name", &pass_on},
    PostgresqlOption{"passfile", &pass_on},
    PostgresqlOption{"krbsrvname", &pass_on},
};

/// Gives libpq the TLS options by its own names.
void pass_on_tls(PostgresqlUri& uri) {
  const TlsOptions& tls = uri.tls;
  if (!tls.names_files()) return;
  for (const auto& [name, value] : uri.parameters) {
    if (!name.starts_with("ssl")) continue;
    refuse("the option " + in_quotes(name) +
           " of the PostgreSQL URI is libpq's; beside tls_ca, tls_cert and tls_key leave it out");
  }
  uri.parameters.emplace_back("sslmode", "verify-full");
  uri.parameters.emplace_back("sslrootcert", tls.ca.empty() ? system_authorities() : tls.ca);
  if (tls.certificate.empty()) return;
  uri.parameters.emplace_back("sslcert", tls.certificate);
  uri.parameters.emplace_back("sslkey", tls.key);
}

}  // namespace

PostgresqlUri PostgresqlUri::parse(std::string_view uri) {
  constexpr std::string_view begin = "postgresql://";
  if (!uri.starts_with(begin)) refuse("a PostgreSQL URI begins with postgresql://");
  UriParts parts = syntax.split(uri.substr(begin.size()));
  PostgresqlUri read;
  read.user = std::move(parts.user);
  read.password = std::move(parts.password);
  read_options(syntax, parts, uri_options, read);
  read.tls.complete(syntax);
  pass_on_tls(read);
  if (!parts.hosts.empty() || read.hosts.empty()) {
    read.hosts = syntax.endpoints(parts.hosts, default_port);
  }
  if (!parts.path.empty()) read.database = syntax.decoded(parts.path.substr(1), "database");
  if (read.database.find('/') != std::string::npos) {
    refuse("invalid database " + in_quotes(read.database) +
           " in the PostgreSQL URI; expected a name");
  }
  const bool shedlock = read.schema == LockSchema::shedlock;
  if (!read.table.empty() && !shedlock) {
    refuse("the option 'table' needs the option schema=shedlock");
  }
  if (read.table.empty()) read.table = "shedlock";
  if (read.create && shedlock) {
    refuse("create=yes creates latchkey's own tables; leave it out with schema=shedlock");
  }
  return read;
}

std::string PostgresqlUri::describe() const {
  std::string text = "postgresql://";
  text += host_list(hosts) + '/' + database;
  if (schema == LockSchema::shedlock) text += " (ShedLock's table " + table + ')';
  return text;
}

}  // namespace latchkey::inline v1::detail::postgresql

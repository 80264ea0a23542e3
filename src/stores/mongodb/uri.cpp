// Reads mongodb: URIs.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mongodb/uri.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include <latchkey/detail/in_quotes.hpp>
#include "backend/uri/uri_options.hpp"
#include "stores/mongodb/client_pool.hpp"

namespace latchkey::inline v1::detail::mongodb {
namespace {

constexpr UriSyntax syntax("MongoDB", "mongodb://127.0.0.1:27017/locks");

struct DestroyUri {
  void operator()(mongoc_uri_t* uri) const noexcept { ::mongoc_uri_destroy(uri); }
};

[[noreturn]] void reject(const std::string& why) {
  throw std::invalid_argument("invalid MongoDB URI: " + why);
}

/// Options that libmongoc knows by other means than its option tables.
constexpr std::array<std::string_view, 9> special{
    "appname", "authmechanism",    "authmechanismproperties", "authsource", "compressors",
    "journal", "readconcernlevel", "readpreferencetags",      "w"};

/// latchkey sets these from Options::command_timeout.
constexpr std::array<std::string_view, 4> timeouts{
    "connecttimeoutms", "sockettimeoutms", "serverselectiontimeoutms", "serverselectiontryonce"};

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& byte : small) {
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte - 'A' + 'a');
  }
  return small;
}

void check_option(std::string_view name) {
  const std::string word = lower(name);
  if (std::ranges::find(timeouts, word) != timeouts.end()) {
    reject("the option " + in_quotes(name) + " is not offered; set Options::command_timeout");
  }
  const char* const option = word.c_str();
  const bool known = ::mongoc_uri_option_is_int32(option) || ::mongoc_uri_option_is_int64(option) ||
                     ::mongoc_uri_option_is_bool(option) || ::mongoc_uri_option_is_utf8(option) ||
                     std::ranges::find(special, word) != special.end();
  if (!known) {
    reject("unknown option " + in_quotes(name) +
           "; expected collection, schema, tls_ca, tls_cert, or an option of libmongoc such as "
           "replicaSet, authSource, tls or w");
  }
}

/// The options that are latchkey's own.
struct OwnOptions {
  std::string collection;
  LockSchema schema = LockSchema::latchkey;
  TlsOptions tls;
};

using OwnOption = KnownOption<OwnOptions>;
constexpr std::array own_options{
    OwnOption{"collection", &store_value<&OwnOptions::collection>},
    lock_schema<OwnOptions>,
    tls_ca<OwnOptions>,
    tls_cert<OwnOptions>,
    tls_key<OwnOptions>,
};

/// Removes latchkey's own options from `uri` and returns what remains.
std::string take_own_options(std::string_view uri, OwnOptions& own) {
  const std::size_t question = uri.find('?');
  if (question == std::string_view::npos) return std::string(uri);
  std::string rest(uri.substr(0, question));
  char separator = '?';
  for (const UriOption& option : syntax.options(uri.substr(question + 1))) {
    if (read_known_option(syntax, option, own_options, own)) continue;
    check_option(option.name);
    rest.append(1, separator).append(option.name).append("=").append(option.value);
    separator = '&';
  }
  own.tls.complete(syntax);
  return rest;
}

/// Gives libmongoc the TLS options by its own names.
void set_tls(mongoc_uri_t& uri, const TlsOptions& tls) {
  if (!tls.names_files()) return;
  if (tls.key != tls.certificate) {
    reject(
        "libmongoc reads the certificate and its key from one file; expected tls_cert with both, "
        "and no tls_key");
  }
  for (const char* const own : {MONGOC_URI_TLSCAFILE, MONGOC_URI_TLSCERTIFICATEKEYFILE}) {
    if (!::mongoc_uri_has_option(&uri, own)) continue;
    reject("the option " + in_quotes(own) +
           " is libmongoc's; beside tls_ca and tls_cert leave it out");
  }
  if (!::mongoc_uri_get_option_as_bool(&uri, MONGOC_URI_TLS, true)) {
    reject("tls=false contradicts tls_ca and tls_cert; leave it out");
  }
  ::mongoc_uri_set_option_as_bool(&uri, MONGOC_URI_TLS, true);
  const auto set = [&](const char* option, const std::string& file) {
    if (!file.empty()) ::mongoc_uri_set_option_as_utf8(&uri, option, file.c_str());
  };
  set(MONGOC_URI_TLSCAFILE, tls.ca);
  set(MONGOC_URI_TLSCERTIFICATEKEYFILE, tls.certificate);
}

void check_names(const Settings& settings) {
  const std::string& name = settings.collection;
  if (name.empty() || name.find('$') != std::string::npos || name.starts_with("system.") ||
      name.find('\0') != std::string::npos) {
    reject("the collection " + in_quotes(name) +
           " cannot be used; expected a name without '$' that does not begin with 'system.'");
  }
}

std::string describe(const mongoc_uri_t& uri, const std::string& database) {
  std::string text = "mongodb://";
  for (const mongoc_host_list_t* host = ::mongoc_uri_get_hosts(&uri); host != nullptr;
       host = host->next) {
    if (!text.ends_with('/')) text += ',';
    text += host->host_and_port;
  }
  return text + "/" + database;
}

void set_defaults(mongoc_uri_t& uri, std::chrono::milliseconds timeout) {
  const auto limit = static_cast<std::int32_t>(
      std::clamp<std::chrono::milliseconds::rep>(timeout.count(), 1, INT32_MAX));
  for (const char* const option : {MONGOC_URI_CONNECTTIMEOUTMS, MONGOC_URI_SOCKETTIMEOUTMS,
                                   MONGOC_URI_SERVERSELECTIONTIMEOUTMS}) {
    ::mongoc_uri_set_option_as_int32(&uri, option, limit);
  }
  ::mongoc_uri_set_option_as_bool(&uri, MONGOC_URI_SERVERSELECTIONTRYONCE, true);
  // A retry inside libmongoc would take another command_timeout. latchkey tries again by itself.
  for (const char* const option : {MONGOC_URI_RETRYREADS, MONGOC_URI_RETRYWRITES}) {
    if (!::mongoc_uri_has_option(&uri, option)) {
      ::mongoc_uri_set_option_as_bool(&uri, option, false);
    }
  }
  if (::mongoc_uri_get_appname(&uri) == nullptr) ::mongoc_uri_set_appname(&uri, "latchkey");
  const mongoc_write_concern_t* const given = ::mongoc_uri_get_write_concern(&uri);
  if (given != nullptr && !::mongoc_write_concern_is_default(given)) return;
  const std::unique_ptr<mongoc_write_concern_t, decltype(&::mongoc_write_concern_destroy)> majority(
      ::mongoc_write_concern_new(), &::mongoc_write_concern_destroy);
  ::mongoc_write_concern_set_wmajority(majority.get(), limit);
  ::mongoc_uri_set_write_concern(&uri, majority.get());
}

void check_writes(const mongoc_uri_t& uri) {
  const mongoc_write_concern_t* const given = ::mongoc_uri_get_write_concern(&uri);
  if (given != nullptr && !::mongoc_write_concern_is_acknowledged(given)) {
    reject("with w=0 no write is confirmed; leave it out for w=majority");
  }
}

// A secondary's clock would decide about leases, and a check would see an older document. Tags and
// a staleness are invalid without such a preference.
void check_reads(const mongoc_uri_t& uri) {
  if (::mongoc_read_prefs_get_mode(::mongoc_uri_get_read_prefs_t(&uri)) == MONGOC_READ_PRIMARY) {
    return;
  }
  const std::string mode = ::mongoc_uri_get_option_as_utf8(&uri, MONGOC_URI_READPREFERENCE, "");
  reject("with " + in_quotes("readPreference=" + mode) +
         " a secondary would decide who holds a lock; leave it out for primary, and "
         "readPreferenceTags and maxStalenessSeconds with it");
}

}  // namespace

Settings parse_uri(std::string_view uri, std::chrono::milliseconds command_timeout) {
  start_library();
  OwnOptions own;
  const std::string text = take_own_options(uri, own);
  Settings settings;
  settings.collection = std::move(own.collection);
  settings.schema = own.schema;
  if (settings.collection.empty()) {
    settings.collection = settings.schema == LockSchema::shedlock ? "shedLock" : "latchkey_locks";
  }
  check_names(settings);
  bson_error_t error{};
  // libmongoc's message may repeat a part of the URI, which may be the password.
  std::unique_ptr<mongoc_uri_t, DestroyUri> parsed(
      ::mongoc_uri_new_with_error(text.c_str(), &error));
  if (!parsed) {
    const bool harmless = text.find('@') == std::string::npos;
    reject((harmless ? std::string(error.message) : std::string("libmongoc cannot read it")) +
           "; expected mongodb://[user:password@]host[:port][,host…]/database[?options], user and "
           "password percent-encoded");
  }
  const char* const database = ::mongoc_uri_get_database(parsed.get());
  if (database == nullptr || *database == '\0') {
    reject("it names no database; expected mongodb://host/database");
  }
  settings.database = database;
  set_tls(*parsed, own.tls);
  settings.tls = ::mongoc_uri_get_tls(parsed.get());
  settings.timeout = command_timeout;
  settings.description = describe(*parsed, settings.database);
  set_defaults(*parsed, command_timeout);
  check_writes(*parsed);
  check_reads(*parsed);
  settings.uri = std::shared_ptr<const mongoc_uri_t>(parsed.release(), [](const mongoc_uri_t* its) {
    ::mongoc_uri_destroy(const_cast<mongoc_uri_t*>(its));
  });
  return settings;
}

}  // namespace latchkey::inline v1::detail::mongodb

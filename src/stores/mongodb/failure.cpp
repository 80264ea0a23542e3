// Why a command failed: the one place where errors of libmongoc and of servers become text.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mongodb/failure.hpp"

namespace latchkey::inline v1::detail::mongodb {
namespace {

// Codes of the server (src/mongo/base/error_codes.yml).
constexpr std::uint32_t unauthorized = 13, authentication_failed = 18, max_time_expired = 50,
                        command_not_found = 59, write_concern_failed = 64,
                        shutdown_in_progress = 91, write_concern_timeout = 100,
                        unsatisfiable_write_concern = 79, primary_stepped_down = 189,
                        not_primary_or_secondary = 13436, not_writable_primary = 10107,
                        not_primary_no_secondary_ok = 13435, interrupted_at_shutdown = 11600,
                        interrupted_by_change = 11602, mechanism_unavailable = 334;

/// libmongoc fails without an error if a greeting does not say what the server is.
constexpr std::uint32_t no_domain = 0;

constexpr const char* bad_credentials =
    "the server rejects the user or its password; check both, and authSource, the database in "
    "which the user was created";

std::string text_of(const bson_error_t& error) { return error.message; }

/// "No suitable servers found (`serverSelectionTryOnce` set): [connection refused calling hello on
/// 'h:1']": what is in the brackets.
std::string selection_text(const bson_error_t& error) {
  const std::string text = text_of(error);
  const std::size_t open = text.find('['), close = text.rfind(']');
  if (open == std::string::npos || close == std::string::npos || close <= open + 1) {
    return "no primary was found";
  }
  return "no primary was found: " + text.substr(open + 1, close - open - 1);
}

[[noreturn]] void raise_server_error(const bson_error_t& error, const FailedCommand& command) {
  switch (error.code) {
    case unauthorized:
      throw Rejected("the server forbids " + std::string(command.name) + " on " +
                     std::string(command.collection) +
                     "; grant the role readWrite on this database");
    case authentication_failed:
    case mechanism_unavailable: throw Rejected(bad_credentials);
    case command_not_found:
      throw Rejected("the server has no command " + std::string(command.name) +
                     "; expected MongoDB 4.4.2 or later");
    case not_writable_primary:
    case not_primary_no_secondary_ok:
    case not_primary_or_secondary: throw NoAnswer("the server is no longer the primary", false);
    case shutdown_in_progress:
    case primary_stepped_down:
    case interrupted_at_shutdown:
    case interrupted_by_change: throw NoAnswer("the primary steps down", true);
    case write_concern_failed:
    case write_concern_timeout:
      throw NoAnswer("too few members of the replica set confirmed the write", true);
    case max_time_expired: throw NoAnswer("the server did not finish in time", true);
    case unsatisfiable_write_concern: throw Rejected("the write concern cannot be met");
    default:
      throw Rejected("the server refuses " + std::string(command.name) + ": " + text_of(error) +
                     " (code " + std::to_string(error.code) + ")");
  }
}

}  // namespace

NoAnswer malformed_reply() {
  return {"the reply is not what was asked for; a proxy may have answered", true};
}

bool is_answer(const bson_error_t& error) noexcept {
  return error.domain == MONGOC_ERROR_SERVER || error.domain == MONGOC_ERROR_WRITE_CONCERN;
}

void raise(const bson_error_t& error, const FailedCommand& command) {
  switch (error.domain) {
    case MONGOC_ERROR_SERVER: raise_server_error(error, command);
    case MONGOC_ERROR_WRITE_CONCERN:
      throw NoAnswer("too few members of the replica set confirmed the write", true);
    case MONGOC_ERROR_SERVER_SELECTION:
      if (error.code == MONGOC_ERROR_SERVER_SELECTION_BAD_WIRE_VERSION ||
          error.code == MONGOC_ERROR_PROTOCOL_BAD_WIRE_VERSION) {
        throw Rejected("this libmongoc and the server have no version in common: " +
                       text_of(error));
      }
      throw NoAnswer(selection_text(error), false);
    case MONGOC_ERROR_PROTOCOL:
      if (error.code == MONGOC_ERROR_PROTOCOL_BAD_WIRE_VERSION) {
        throw Rejected("this libmongoc and the server have no version in common: " +
                       text_of(error));
      }
      throw NoAnswer("the server sent a reply that is not BSON", true);
    case MONGOC_ERROR_CLIENT:
      if (error.code == MONGOC_ERROR_CLIENT_AUTHENTICATE) throw Rejected(bad_credentials);
      throw NoAnswer(text_of(error), true);
    case MONGOC_ERROR_SCRAM:
    case MONGOC_ERROR_SASL: throw Rejected(bad_credentials);
    case MONGOC_ERROR_STREAM: {
      const bool unsent = error.code == MONGOC_ERROR_STREAM_CONNECT ||
                          error.code == MONGOC_ERROR_STREAM_NAME_RESOLUTION ||
                          error.code == MONGOC_ERROR_STREAM_NOT_ESTABLISHED;
      if (unsent) throw NoAnswer("no connection: " + text_of(error), false);
      // libmongoc counts from another moment, and in whole milliseconds.
      if (command.elapsed >= command.timeout - command.timeout / 20) {
        throw NoAnswer("no answer within " + std::to_string(command.timeout.count()) + " ms", true);
      }
      throw NoAnswer("the connection broke", true);
    }
    case no_domain: throw malformed_reply();
    default: throw NoAnswer(text_of(error), true);
  }
}

}  // namespace latchkey::inline v1::detail::mongodb

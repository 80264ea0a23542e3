// The commands of one request.
// SPDX-License-Identifier: BSL-1.0
#include "stores/mongodb/commands.hpp"

#include <chrono>
#include <string>
#include <utility>

#include "stores/mongodb/failure.hpp"

namespace latchkey::inline v1::detail::mongodb {
namespace {

/// As every server has it; libmongoc takes what the server says.
constexpr std::int64_t longest_message = 48'000'000;
/// The documents of one listing.
constexpr std::size_t longest_listing = std::size_t{64} << 20;

constexpr std::uint32_t duplicate_key = MONGOC_ERROR_DUPLICATE_KEY;

/// The reply of a command that was executed may still report that its write failed.
void check_write(const bson_t& reply) {
  if (text_at(reply, "writeConcernError.errmsg")) {
    throw NoAnswer("too few members of the replica set confirmed the write", true);
  }
  if (const auto why = text_at(reply, "writeErrors.0.errmsg")) {
    throw Rejected("the server refuses the write: " + *why);
  }
}

/// Whether the document is one that the filter matched, after the update.
bool shows(const bson_t& after, const Bson& filter, const Bson& update) {
  const auto set = document_at(update.get(), "$set");
  return agrees(after, filter.get(), update.get()) &&
         (!set || agrees(after, set->get(), Bson().get())) &&
         (!has(update.get(), "$currentDate.since") || date_at(after, "since"));
}

}  // namespace

Commands::~Commands() {
  if (client_) pool_.give_back(std::move(client_));
}

void Commands::reject_reply() {
  pool_.discard(std::move(client_));
  throw malformed_reply();
}

Bson Commands::run(const char* name, const char* database, const Bson& command, bool writes,
                   bool* duplicate) {
  using Steady = std::chrono::steady_clock;
  const Steady::time_point sent = Steady::now();
  bson_t raw;
  bson_error_t error{};
  const auto send = [&] {
    const InsideLibrary inside;
    return writes ? ::mongoc_client_write_command_with_opts(&client_->get(), database,
                                                            &command.get(), nullptr, &raw, &error)
                  : ::mongoc_client_read_command_with_opts(
                        &client_->get(), database, &command.get(), nullptr, nullptr, &raw, &error);
  };
  const bool good = send();
  Bson reply(raw);
  ::bson_destroy(&raw);
  if (good) {
    // libmongoc accepts a reply without a success and without an error.
    if (integer_at(reply.get(), "ok") != 1) reject_reply();
    if (writes) check_write(reply.get());
    return reply;
  }
  if (duplicate != nullptr && is_answer(error) && error.code == duplicate_key) {
    *duplicate = true;
    return reply;
  }
  if (!is_answer(error)) pool_.discard(std::move(client_));
  raise(error, {name, settings().database + "." + settings().collection,
                std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now() - sent),
                settings().timeout});
}

Date Commands::now() {
  const Bson reply = run("hello", "admin", doc("hello", 1), false);
  if (const auto time = date_at(reply.get(), "localTime"); time && *time >= Date{}) return *time;
  throw Rejected("the server's reply to hello has no localTime that a clock may show");
}

std::optional<Bson> Commands::find(const Bson& filter) {
  const Bson command =
      doc("find", settings().collection, "filter", filter, "limit", 1, "singleBatch", true);
  const Bson reply = run("find", settings().database.c_str(), command, false);
  auto found = documents_at(reply.get(), "cursor.firstBatch");
  if (!found || found->size() > 1) reject_reply();
  if (found->empty()) return std::nullopt;
  if (!agrees(found->front().get(), filter.get(), Bson().get())) reject_reply();
  return std::move(found->front());
}

std::vector<Bson> Commands::find_all(const Bson& filter, std::int64_t most) {
  const char* const database = settings().database.c_str();
  const Bson command = doc("find", settings().collection, "filter", filter, "limit", most);
  Bson reply = run("find", database, command, false);
  std::vector<Bson> all;
  std::size_t bytes = 0;
  for (const char* batch = "cursor.firstBatch";; batch = "cursor.nextBatch") {
    auto more = documents_at(reply.get(), batch);
    const auto cursor = integer_at(reply.get(), "cursor.id");
    if (!more || !cursor) reject_reply();
    const bool is_empty = more->empty();
    for (Bson& each : *more) {
      bytes += each.get().len;
      all.push_back(std::move(each));
    }
    if (most > 0 && std::cmp_greater(all.size(), most)) reject_reply();
    if (bytes > longest_listing) throw Rejected("the listing is longer than 64 MiB");
    if (*cursor == 0) return all;
    if (is_empty) reject_reply();  // a cursor that has more returns more
    reply = run("getMore", database, doc("getMore", *cursor, "collection", settings().collection),
                false);
  }
}

Modified Commands::send_modify(const Bson& filter, const Bson& update, bool inserts) {
  Bson command =
      doc("findAndModify", settings().collection, "query", filter, "update", update, "new", true);
  if (inserts) command.append_flag("upsert", true);
  Modified result;
  const Bson reply = run("findAndModify", settings().database.c_str(), command, true,
                         inserts ? &result.duplicate : nullptr);
  if (result.duplicate) return result;
  result.after = document_at(reply.get(), "value");
  const bool is_shown =
      result.after ? shows(result.after->get(), filter, update) : is_null(reply.get(), "value");
  if (!is_shown) reject_reply();
  return result;
}

Modified Commands::modify(const Bson& filter, const Bson& update) {
  return send_modify(filter, update, false);
}

Modified Commands::modify_or_insert(const Bson& filter, const Bson& update) {
  return send_modify(filter, update, true);
}

bool Commands::remove(const Bson& filter) {
  const Bson command = doc("delete", settings().collection, "deletes",
                           std::vector<Bson>{doc("q", filter, "limit", 1)});
  const Bson reply = run("delete", settings().database.c_str(), command, true);
  const auto deleted = integer_at(reply.get(), "n");
  if (!deleted || *deleted < 0 || *deleted > 1) reject_reply();
  return *deleted == 1;
}

void Commands::check_server() {
  const Bson reply = run("hello", "admin", doc("hello", 1), false);
  if (text_at(reply.get(), "msg") == "isdbgrid") {
    throw Rejected(
        "this is the mongos of a sharded cluster, whose servers measure leases by several clocks; "
        "expected a replica set or a single server");
  }
  if (!flag_at(reply.get(), "isWritablePrimary").value_or(false)) {
    throw NoAnswer("the server is not a primary; name all members of the replica set", false);
  }
  if (integer_at(reply.get(), "maxMessageSizeBytes").value_or(0) > longest_message) {
    throw Rejected("the server announces messages of more than 48000000 bytes");
  }
  // Permissions, by commands that match nothing: keys are never empty.
  const Bson nothing = doc("_id", "");
  static_cast<void>(find(nothing));
  static_cast<void>(modify(nothing, doc("$set", doc("owner", ""))));
  static_cast<void>(remove(nothing));
}

}  // namespace latchkey::inline v1::detail::mongodb

// The commands of one request.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "stores/mongodb/bson.hpp"
#include "stores/mongodb/client_pool.hpp"

namespace latchkey::inline v1::detail::mongodb {

/// The result of findAndModify.
struct Modified {
  /// The document after the change. Empty: no document matches the filter.
  std::optional<Bson> after;
  /// No document matches, and none can be inserted: another document has this `_id`.
  bool duplicate = false;
};

/// Sends the commands of one request, each on the same connection, and waits for their replies. All
/// members that send throw NoAnswer and Rejected.
class Commands {
 public:
  explicit Commands(ClientPool& pool) : pool_(pool), client_(pool.take()) {}
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;
  ~Commands();

  /// The server's clock. Truncated, so it is never later than the clock.
  [[nodiscard]] Date now();
  [[nodiscard]] std::optional<Bson> find(const Bson& filter);
  /// `most`: 0 for no limit.
  [[nodiscard]] std::vector<Bson> find_all(const Bson& filter, std::int64_t most = 0);
  /// findAndModify, which is atomic at the server.
  Modified modify(const Bson& filter, const Bson& update);
  /// Does what `modify` does; inserts a document if none matches.
  Modified modify_or_insert(const Bson& filter, const Bson& update);
  /// Whether a document was deleted.
  bool remove(const Bson& filter);
  /// Throws NoAnswer because the last reply is not the one of its command. The connection is not
  /// used again: libmongoc does not compare replies with requests, so the next reply may be that of
  /// an earlier command, too.
  [[noreturn]] void reject_reply();
  /// Throws Rejected unless the server can keep locks and permits it.
  void check_server();

 private:
  Bson run(const char* name, const char* database, const Bson& command, bool writes,
           bool* duplicate = nullptr);
  [[nodiscard]] const Settings& settings() const noexcept { return pool_.settings(); }
  Modified send_modify(const Bson& filter, const Bson& update, bool inserts);

  ClientPool& pool_;
  std::unique_ptr<Client> client_;
};

}  // namespace latchkey::inline v1::detail::mongodb

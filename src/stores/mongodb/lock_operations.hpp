// The verbs on documents of latchkey's own layout.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include <latchkey/backend.hpp>

#include "stores/mongodb/commands.hpp"
#include "stores/mongodb/lock_document.hpp"

namespace latchkey::inline v1::detail::mongodb {

/// The answer to one request.
struct Answer {
  Outcome::Kind kind = Outcome::Kind::gone;
  std::uint64_t token = 0;
  std::optional<std::chrono::milliseconds> retry_after{};
  std::string holder{};
};

/// How often an operation starts again because another client changed the document between its read
/// and its write.
inline constexpr int most_rounds = 32;

/// The key whose document is read and changed, and by whom.
///
/// A decision about a lease compares the document with the server's clock, read after it; the
/// write that follows matches only if the document is unchanged. So a decision is never older than
/// the document that it is about.
class LockOperation {
 public:
  LockOperation(Commands& commands, const Request& request)
      : commands_(commands), request_(request), key_{request.key}, owner_(request.id.text()) {}

  [[nodiscard]] Answer acquire();
  [[nodiscard]] Answer renew();
  [[nodiscard]] Answer verify();
  [[nodiscard]] Answer release();
  [[nodiscard]] Answer downgrade();
  [[nodiscard]] Answer force_release();
  /// Deletes a document whose holds have ended, unless it has changed.
  void remove_ended(const LockDocument& document);

  /// Ends the READ that a WRITE has become.
  [[nodiscard]] Answer release_read();

 private:
  // READ
  [[nodiscard]] Answer acquire_read();
  [[nodiscard]] Answer renew_read();
  [[nodiscard]] Answer verify_read();

  /// Read the key's document; read_own: only if `request` holds the key. These throw Rejected if
  /// latchkey has not written a field so.
  [[nodiscard]] std::optional<LockDocument> read();
  [[nodiscard]] std::optional<LockDocument> read_own();
  [[nodiscard]] std::optional<LockDocument> read(const Bson& filter);
  [[nodiscard]] Bson free_key() const;
  /// An update that makes `id` the holder.
  [[nodiscard]] Bson grant(std::optional<std::int64_t> fence, bool replaces_readers) const;
  [[nodiscard]] std::optional<Answer> try_free_key();
  [[nodiscard]] std::optional<Answer> take_over(const LockDocument& document, Date now);
  [[nodiscard]] Answer busy(const LockDocument& document, Date now);
  [[nodiscard]] bool fenced() const noexcept { return request_.wants_token(); }
  [[nodiscard]] Answer granted(const Bson& after) const;
  [[nodiscard]] std::int64_t lease() const noexcept {
    return std::min<std::int64_t>(request_.lease.count(), Date::latest);
  }
  [[nodiscard]] Date in(Date now, std::chrono::milliseconds time) const noexcept {
    return {std::min(now.milliseconds + std::min<std::int64_t>(time.count(), Date::latest),
                     Date::latest)};
  }
  /// Deletes a document that nobody holds any more, or what it says of holds if it has a fence.
  bool remove_holds(const Bson& filter);

  [[nodiscard]] std::optional<Answer> try_first_read();
  [[nodiscard]] std::optional<Answer> join_readers(const LockDocument& document, Date now);
  bool replace_readers(const LockDocument& document, const std::vector<Reader>& readers);
  void announce_writer(const LockDocument& document, Date now);

  Commands& commands_;
  const Request& request_;
  const Key key_;
  const std::string owner_;
};

/// Deletes up to 1 000 documents that killed processes left. Their leases have ended.
void remove_ended_holds(Commands& commands);

}  // namespace latchkey::inline v1::detail::mongodb

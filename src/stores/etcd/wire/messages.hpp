// The messages of etcd's API version 3 that latchkey sends and receives.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stores/etcd/wire/method.hpp"

namespace latchkey::inline v1::detail::etcd {

/// The end of the range of all keys that begin with `prefix`.
[[nodiscard]] std::string end_of_prefix(std::string_view prefix);

/// Whether the number may be a revision of etcd, with room for the 16 bits that fencing tokens add.
[[nodiscard]] constexpr bool is_revision(std::int64_t number) noexcept {
  return number > 0 && number < std::int64_t{1} << 47U;
}

struct KeyValue {
  std::string key, value;
  std::int64_t create_revision = 0, lease = 0;
};

/// RangeRequest: the key, or the keys up to `end`.
struct Range {
  enum class Order : std::uint8_t { by_key, first_created, last_created };

  std::string_view key;
  std::string_view end{};
  Order order = Order::by_key;
  std::int64_t limit = 0;  ///< 0: all
  std::int64_t max_create_revision = 0;
  bool keys_only = false;
};
struct RangeReply {
  std::vector<KeyValue> found;
};

/// TxnRequest. Its comparisons and operations are encoded as they are added. Without a comparison
/// it succeeds.
class Transaction {
 public:
  /// If the create revision of `key` is `revision`. 0: it is absent.
  Transaction& if_created(std::string_view key, std::int64_t revision);
  /// If there is no key from `begin` up to `end` that was created after `revision`. 0: none at all.
  Transaction& if_none_after(std::int64_t revision, std::string_view begin, std::string_view end);

  Transaction& then_put(std::string_view key, std::string_view value, std::int64_t lease);
  Transaction& then_delete(std::string_view key);
  Transaction& then_range(const Range& range);
  Transaction& else_range(const Range& range);
  [[nodiscard]] std::string encode() noexcept { return std::move(request_); }

 private:
  Transaction& compare(std::int64_t result, std::string_view key, std::string_view end,
                       std::int64_t revision);
  Transaction& add(std::uint32_t branch, std::uint32_t kind, std::string_view operation);

  std::string request_;
};
struct TransactionReply {
  std::int64_t revision = 0;
  bool succeeded = false;
  std::vector<RangeReply> ranges;  ///< in the order of the operations
  bool deleted = false;            ///< whether a key was

  /// The first key of a range; null: there is none.
  [[nodiscard]] const KeyValue* first_of(std::size_t range) const noexcept {
    const bool any = range < ranges.size() && !ranges[range].found.empty();
    return any ? &ranges[range].found.front() : nullptr;
  }
};

struct LeaseReply {
  std::int64_t id = 0;
  std::int64_t ttl = 0;  ///< in seconds; 0 or less: there is no such lease
};

struct StatusReply {
  std::string version;
  bool has_leader = false;
};

/// WatchResponse: deletions, and the end of the watch.
struct WatchReply {
  std::int64_t id = 0;  ///< etcd's, from the reply that says `created` on
  std::int64_t revision = 0;
  bool created = false;
  bool cancelled = false;
  std::vector<std::string> deleted;
};

/// Watches the deletions of a key, or of the keys up to `end`, from `revision` on.
[[nodiscard]] std::string encode_watch(std::string_view key, std::string_view end,
                                       std::int64_t revision);
/// Ends a watch of the same stream.
[[nodiscard]] std::string encode_watch_end(std::int64_t id);
[[nodiscard]] std::string encode_put(std::string_view key, std::string_view value,
                                     std::int64_t lease);
[[nodiscard]] std::string encode_delete(std::string_view key);
[[nodiscard]] std::string encode_range(const Range& range);
[[nodiscard]] std::string encode_grant(std::int64_t ttl);
[[nodiscard]] std::string encode_lease(std::int64_t id);
[[nodiscard]] std::string encode_login(std::string_view user, std::string_view password);

/// Whether a reply to `method`, and each message in it, consists of whole fields. The functions
/// below read a message that does not up to the field that is cut off.
[[nodiscard]] bool is_whole_reply(Method method, std::string_view message) noexcept;

[[nodiscard]] RangeReply decode_range(std::string_view message);
/// How many keys a DeleteRangeResponse says were deleted.
[[nodiscard]] std::int64_t decode_deleted(std::string_view message);
/// Decodes a TxnResponse, or a PutResponse, which has a revision only.
[[nodiscard]] TransactionReply decode_transaction(std::string_view message);
[[nodiscard]] LeaseReply decode_lease(std::string_view message);
[[nodiscard]] StatusReply decode_status(std::string_view message);
[[nodiscard]] WatchReply decode_watch(std::string_view message);
[[nodiscard]] std::string decode_token(std::string_view message);

}  // namespace latchkey::inline v1::detail::etcd

// Encodes and decodes etcd's messages; the field numbers are those of rpc.proto and kv.proto.
// SPDX-License-Identifier: BSL-1.0
#include "stores/etcd/wire/messages.hpp"

#include <array>
#include <utility>

#include "stores/etcd/wire/protobuf.hpp"

namespace latchkey::inline v1::detail::etcd {
namespace {

std::int64_t decode_revision(std::string_view header) {
  ProtobufReader reader(header);
  while (reader.next()) {
    if (reader.field() == 3) return reader.number();
  }
  return 0;
}

KeyValue decode_key_value(std::string_view message) {
  KeyValue made;
  ProtobufReader reader(message);
  while (reader.next()) {
    switch (reader.field()) {
      case 1: made.key = reader.bytes(); break;
      case 2: made.create_revision = reader.number(); break;
      case 5: made.value = reader.bytes(); break;
      case 6: made.lease = reader.number(); break;
      default: break;
    }
  }
  return made;
}

/// Which fields of a message are messages, too.
struct Shape {
  struct Part {
    std::uint32_t field = 0;  ///< 0: none
    const Shape* shape = nullptr;
  };
  std::array<Part, 3> parts{};
};
constexpr Shape flat{};
constexpr Shape with_header{{{{1, &flat}}}};
constexpr Shape range_reply{{{{1, &flat}, {2, &flat}}}};
constexpr Shape operation_reply{{{{1, &range_reply}, {2, &with_header}, {3, &with_header}}}};
constexpr Shape transaction_reply{{{{1, &flat}, {3, &operation_reply}}}};
constexpr Shape watch_event{{{{2, &flat}}}};
constexpr Shape watch_reply{{{{1, &flat}, {11, &watch_event}}}};

const Shape& shape_of(Method method) noexcept {
  switch (method) {
    case Method::range: return range_reply;
    case Method::txn: return transaction_reply;
    case Method::watch: return watch_reply;
    default: return with_header;
  }
}

bool is_whole(std::string_view message, const Shape& shape) noexcept {
  ProtobufReader reader(message);
  while (reader.next()) {
    for (const Shape::Part& part : shape.parts) {
      if (part.field == reader.field() && part.shape != nullptr &&
          !is_whole(reader.bytes(), *part.shape)) {
        return false;
      }
    }
  }
  return reader.is_whole();
}

void decode_operation(std::string_view message, TransactionReply& reply) {
  ProtobufReader reader(message);
  while (reader.next()) {
    if (reader.field() == 1) reply.ranges.push_back(decode_range(reader.bytes()));
    if (reader.field() == 3 && decode_deleted(reader.bytes()) > 0) reply.deleted = true;
  }
}

}  // namespace

std::string end_of_prefix(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty()) {
    const auto last = static_cast<unsigned char>(end.back());
    end.pop_back();
    if (last < 0xFF) {
      end += static_cast<char>(last + 1);
      return end;
    }
  }
  return std::string(1, '\0');  // to the end of all keys
}

Transaction& Transaction::if_created(std::string_view key, std::int64_t revision) {
  constexpr std::int64_t equal = 0;
  return compare(equal, key, {}, revision);
}

Transaction& Transaction::if_none_after(std::int64_t revision, std::string_view begin,
                                        std::string_view end) {
  constexpr std::int64_t less = 2;
  return compare(less, begin, end, revision + 1);
}

Transaction& Transaction::compare(std::int64_t result, std::string_view key, std::string_view end,
                                  std::int64_t revision) {
  constexpr std::int64_t create_revision = 1;
  ProtobufWriter typed;
  typed.number(1, result).number(2, create_revision).bytes(3, key).number(5, revision);
  request_ += ProtobufWriter().message(1, typed.bytes(64, end).take()).take();
  return *this;
}

Transaction& Transaction::add(std::uint32_t branch, std::uint32_t kind,
                              std::string_view operation) {
  const std::string wrapped = ProtobufWriter().message(kind, operation).take();
  request_ += ProtobufWriter().message(branch, wrapped).take();
  return *this;
}

Transaction& Transaction::then_put(std::string_view key, std::string_view value,
                                   std::int64_t lease) {
  return add(2, 2, encode_put(key, value, lease));
}
Transaction& Transaction::then_delete(std::string_view key) {
  return add(2, 3, encode_delete(key));
}
Transaction& Transaction::then_range(const Range& range) { return add(2, 1, encode_range(range)); }
Transaction& Transaction::else_range(const Range& range) { return add(3, 1, encode_range(range)); }

std::string encode_watch(std::string_view key, std::string_view end, std::int64_t revision) {
  ProtobufWriter create;
  create.bytes(1, key).bytes(2, end).number(3, revision);
  create.message(5, std::string_view("\0", 1));  // packed: the filter NOPUT
  return ProtobufWriter().message(1, create.take()).take();
}
std::string encode_watch_end(std::int64_t id) {
  return ProtobufWriter().message(2, ProtobufWriter().number(1, id).take()).take();
}
std::string encode_put(std::string_view key, std::string_view value, std::int64_t lease) {
  return ProtobufWriter().bytes(1, key).bytes(2, value).number(3, lease).take();
}
std::string encode_delete(std::string_view key) { return ProtobufWriter().bytes(1, key).take(); }
std::string encode_range(const Range& range) {
  using Order = Range::Order;
  constexpr std::int64_t ascending = 1, descending = 2, by_create_revision = 2;
  ProtobufWriter request;
  request.bytes(1, range.key).bytes(2, range.end).number(3, range.limit);
  if (range.order != Order::by_key) {
    request.number(5, range.order == Order::first_created ? ascending : descending);
    request.number(6, by_create_revision);
  }
  request.number(8, range.keys_only ? 1 : 0).number(13, range.max_create_revision);
  return request.take();
}
std::string encode_grant(std::int64_t ttl) { return ProtobufWriter().number(1, ttl).take(); }
std::string encode_lease(std::int64_t id) { return ProtobufWriter().number(1, id).take(); }
std::string encode_login(std::string_view user, std::string_view password) {
  return ProtobufWriter().bytes(1, user).bytes(2, password).take();
}

bool is_whole_reply(Method method, std::string_view message) noexcept {
  return is_whole(message, shape_of(method));
}

RangeReply decode_range(std::string_view message) {
  RangeReply reply;
  ProtobufReader reader(message);
  while (reader.next()) {
    if (reader.field() == 2) reply.found.push_back(decode_key_value(reader.bytes()));
  }
  return reply;
}

std::int64_t decode_deleted(std::string_view message) {
  ProtobufReader reader(message);
  while (reader.next()) {
    if (reader.field() == 2) return reader.number();
  }
  return 0;
}

TransactionReply decode_transaction(std::string_view message) {
  TransactionReply reply;
  ProtobufReader reader(message);
  while (reader.next()) {
    switch (reader.field()) {
      case 1: reply.revision = decode_revision(reader.bytes()); break;
      case 2: reply.succeeded = reader.number() != 0; break;
      case 3: decode_operation(reader.bytes(), reply); break;
      default: break;
    }
  }
  return reply;
}

LeaseReply decode_lease(std::string_view message) {
  LeaseReply reply;
  ProtobufReader reader(message);
  while (reader.next()) {
    if (reader.field() == 2) reply.id = reader.number();
    if (reader.field() == 3) reply.ttl = reader.number();
  }
  return reply;
}

StatusReply decode_status(std::string_view message) {
  StatusReply reply;
  ProtobufReader reader(message);
  while (reader.next()) {
    if (reader.field() == 2) reply.version = reader.bytes();
    if (reader.field() == 4) reply.has_leader = reader.number() != 0;
  }
  return reply;
}

WatchReply decode_watch(std::string_view message) {
  constexpr std::int64_t deletion = 1;
  WatchReply reply;
  ProtobufReader reader(message);
  while (reader.next()) {
    switch (reader.field()) {
      case 1: reply.revision = decode_revision(reader.bytes()); break;
      case 2: reply.id = reader.number(); break;
      case 3: reply.created = reader.number() != 0; break;
      case 4: reply.cancelled = reader.number() != 0; break;
      case 11: {
        std::int64_t type = 0;
        std::string key;
        ProtobufReader event(reader.bytes());
        while (event.next()) {
          if (event.field() == 1) type = event.number();
          if (event.field() == 2) key = decode_key_value(event.bytes()).key;
        }
        if (type == deletion) reply.deleted.push_back(std::move(key));
        break;
      }
      default: break;
    }
  }
  return reply;
}

std::string decode_token(std::string_view message) {
  ProtobufReader reader(message);
  while (reader.next()) {
    if (reader.field() == 2) return std::string(reader.bytes());
  }
  return {};
}

}  // namespace latchkey::inline v1::detail::etcd

// The operations of a ZooKeeper session.
// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "stores/zookeeper/session.hpp"

namespace latchkey::inline v1::detail::zookeeper {
namespace {

/// The server appends ten digits to the path.
constexpr std::size_t sequence_size = 16;

/// It says nothing of the operation.
bool ends_connection(int code) noexcept {
  return code == ZCONNECTIONLOSS || code == ZOPERATIONTIMEOUT || code == ZSESSIONEXPIRED ||
         code == ZSESSIONMOVED || code == ZCLOSING || code == ZTHROTTLEDOP || code == ZINVALIDSTATE;
}

std::int64_t created_in(const Stat* stat) noexcept { return stat == nullptr ? 0 : stat->czxid; }

}  // namespace

Session::Operation* Session::begin(ReplyShape shape, Handler handler,
                                   std::unique_ptr<Transaction> transaction) {
  auto made = std::make_unique<Operation>(
      Operation{this, shape, std::move(handler), now_, std::move(transaction)});
  operations_.push_back(made.get());
  last_sent_ = now_;
  cork(true);
  return made.release();  // the library gives it back to `finish`
}

// The library rejects an operation without taking it only if the handle is unusable or memory is
// missing. The connection cannot go on without its reply.
void Session::sent(Operation* operation, int code) noexcept {
  if (code == ZOK) return;
  std::erase(operations_, operation);
  delete operation;
  break_connection();
}

// Called by C code, which no exception may cross.
template <class Fill>
void Session::finish(const void* data, int code, Fill&& fill) noexcept {
  std::unique_ptr<Operation> operation(static_cast<Operation*>(const_cast<void*>(data)));
  Session* const session = operation->session;
  if (session == nullptr) return;
  ++session->completed_;
  if (session->operations_.front() == operation.get()) {
    session->operations_.pop_front();
  } else {
    std::erase(session->operations_, operation.get());
  }
  if (ends_connection(code)) return session->break_connection();
  try {
    Reply reply;
    reply.code = code;
    if (code == ZOK) fill(reply);
    operation->handler(std::move(reply));
  } catch (const std::bad_alloc&) {
    session->is_broken_ = true;
  }
}

const ACL_vector* Session::acl() const noexcept {
  return open_ ? &ZOO_OPEN_ACL_UNSAFE : &ZOO_CREATOR_ALL_ACL;
}

void Session::create(const std::string& path, std::string_view data, Mode mode, Handler handler) {
  const int flags = mode == Mode::sequence    ? ZOO_EPHEMERAL_SEQUENTIAL
                    : mode == Mode::ephemeral ? ZOO_EPHEMERAL
                                              : ZOO_CONTAINER;
  constexpr auto done = [](int code, const char* made, const Stat* stat, const void* context) {
    finish(context, code, [&](Reply& reply) {
      if (made != nullptr) reply.path = made;
      reply.created = created_in(stat);
    });
  };
  Operation* const operation = begin(ReplyShape::created, std::move(handler));
  sent(operation, ::zoo_acreate2(handle_, path.c_str(), data.data(), static_cast<int>(data.size()),
                                 acl(), flags, done, operation));
}

void Session::remove(const std::string& path, Handler handler) {
  constexpr auto done = [](int code, const void* context) { finish(context, code, [](Reply&) {}); };
  Operation* const operation = begin(ReplyShape::nothing, std::move(handler));
  sent(operation, ::zoo_adelete(handle_, path.c_str(), -1, done, operation));
}

void Session::exists(const std::string& path, bool watch, Handler handler) {
  constexpr auto done = [](int code, const Stat* stat, const void* context) {
    finish(context, code, [&](Reply& reply) { reply.created = created_in(stat); });
  };
  Operation* const operation = begin(ReplyShape::stat, std::move(handler));
  sent(operation, ::zoo_aexists(handle_, path.c_str(), watch ? 1 : 0, done, operation));
}

void Session::get(const std::string& path, Handler handler) {
  constexpr auto done = [](int code, const char* value, int size, const Stat* stat,
                           const void* context) {
    finish(context, code, [&](Reply& reply) {
      if (value != nullptr && size > 0) reply.data.assign(value, static_cast<std::size_t>(size));
      reply.created = created_in(stat);
    });
  };
  Operation* const operation = begin(ReplyShape::data, std::move(handler));
  sent(operation, ::zoo_aget(handle_, path.c_str(), 0, done, operation));
}

void Session::children(const std::string& path, bool watch, Handler handler) {
  constexpr auto done = [](int code, const String_vector* names, const void* context) {
    finish(context, code, [&](Reply& reply) {
      if (names == nullptr || names->data == nullptr) return;
      for (const char* const name :
           std::span(names->data, static_cast<std::size_t>(names->count))) {
        if (name != nullptr) reply.children.emplace_back(name);
      }
    });
  };
  Operation* const operation = begin(ReplyShape::children, std::move(handler));
  sent(operation, ::zoo_aget_children(handle_, path.c_str(), watch ? 1 : 0, done, operation));
}

// The library reads and writes these texts until it reports.
void Session::replace(const std::string& path, const std::string& by, std::string_view data,
                      Handler handler) {
  constexpr auto done = [](int code, const void* context) { finish(context, code, [](Reply&) {}); };
  auto owned = std::make_unique<Transaction>(Transaction{path, by, std::string(data), {}, {}, {}});
  owned->made.resize(by.size() + sequence_size);
  Operation* const operation = begin(ReplyShape::replaced, std::move(handler), std::move(owned));
  Transaction& own = *operation->transaction;
  ::zoo_delete_op_init(&own.steps[0], own.path.c_str(), -1);
  ::zoo_create_op_init(&own.steps[1], own.by.c_str(), own.data.data(),
                       static_cast<int>(own.data.size()), acl(), ZOO_EPHEMERAL, own.made.data(),
                       static_cast<int>(own.made.size()));
  sent(operation, ::zoo_amulti(handle_, 2, own.steps, own.results, done, operation));
}

void Session::sync(const std::string& path, Handler handler) {
  constexpr auto done = [](int code, const char* /*path*/, const void* context) {
    finish(context, code, [](Reply&) {});
  };
  Operation* const operation = begin(ReplyShape::text, std::move(handler));
  sent(operation, ::zoo_async(handle_, path.c_str(), done, operation));
}

void Session::reach_leader(const std::string& path, Reach reach) {
  if (reached_ >= reach) return;
  reached_ = reach;
  if (reach == Reach::majority) return write_nothing(path);
  sync(path, [](Reply&&) {});
}

// Also if the node does not exist the leader proposes the transaction, as one that has failed.
void Session::write_nothing(const std::string& path) {
  constexpr auto done = [](int code, const void* context) { finish(context, code, [](Reply&) {}); };
  auto owned = std::make_unique<Transaction>(Transaction{path, {}, {}, {}, {}, {}});
  Operation* const operation = begin(ReplyShape::checked, [](Reply&&) {}, std::move(owned));
  Transaction& own = *operation->transaction;
  ::zoo_check_op_init(&own.steps[0], own.path.c_str(), -1);
  sent(operation, ::zoo_amulti(handle_, 1, own.steps, own.results, done, operation));
}

}  // namespace latchkey::inline v1::detail::zookeeper

// The requests of administrators about the locks in an etcd cluster.
// SPDX-License-Identifier: BSL-1.0
#include "stores/etcd/administration.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/text/glob.hpp"

namespace latchkey::inline v1::detail::etcd {
namespace {

/// All keys of one lock.
struct LockKeys {
  std::vector<KeyValue> places;
  std::set<std::int64_t> markers;  ///< their leases
};

// In the range of the keys there is also one of a lock whose name is the prefix without its slash.
std::map<std::string, LockKeys> by_lock(RangeReply&& reply, const std::string& prefix) {
  const std::string markers = marker_directory(prefix);
  std::map<std::string, LockKeys> locks;
  for (KeyValue& key : reply.found) {
    const auto name = lock_of(key);
    if (!name || !name->starts_with(prefix)) continue;
    if (name->starts_with(markers)) {
      locks[std::string(name->substr(markers.size()))].markers.insert(key.lease);
    } else {
      locks[std::string(name->substr(prefix.size()))].places.push_back(std::move(key));
    }
  }
  return locks;
}

/// A process that waits with a place and a marker, as for a READ, counts once: both have its lease.
std::uint64_t waiters_of(const LockKeys& keys, const std::string& directory) {
  const std::vector<bool> holds = holding(keys.places, directory);
  std::uint64_t waiters = keys.markers.size();
  for (std::size_t index = 0; index < holds.size(); ++index) {
    if (!holds[index] && !keys.markers.contains(keys.places[index].lease)) ++waiters;
  }
  return waiters;
}

LockType type_of(KeyKind kind) noexcept {
  if (kind == KeyKind::read) return LockType::READ;
  return kind == KeyKind::write ? LockType::WRITE : LockType::REENTRANT;
}

void list_awaited(const std::map<std::string, LockKeys>& locks, const std::string& prefix,
                  Request& request) {
  std::vector<std::pair<std::uint64_t, std::string>> found;
  for (const auto& [name, keys] : locks) {
    const std::uint64_t waiters = waiters_of(keys, prefix + name + '/');
    if (waiters > 0 && glob_matches(request.key, name)) found.emplace_back(waiters, name);
  }
  std::ranges::sort(found, [](const auto& one, const auto& other) {
    return one.first != other.first ? one.first > other.first : one.second < other.second;
  });
  for (auto& [waiters, name] : found) {
    request.names->push_back(std::move(name));
    request.part->waiters.push_back(waiters);
  }
}

}  // namespace

void Administration::submit(Request& request, Sink& sink) {
  if (request.verb == Verb::inspect) return inspect(request, sink);
  request.verb == Verb::list ? list(request, sink) : force_release(request, sink);
}

void Administration::fail(Request& request, Sink& sink, const CallEnd& end) {
  context_.outbox.complete(request, sink, outcome_of(end, context_.prefix));
}

std::string Administration::directory_of(const Request& request) const {
  return context_.prefix + std::string(request.key) + '/';
}

std::string Administration::queue_of(const Request& request) const {
  const std::string directory = directory_of(request);
  return encode_range(
      {.key = directory, .end = end_of_prefix(directory), .order = Range::Order::first_created});
}

void Administration::inspect(Request& request, Sink& sink) {
  context_.link.call(Method::range, queue_of(request), [this, &request, &sink](CallEnd&& end) {
    if (!end.ok()) return fail(request, sink, end);
    const RangeReply reply = decode_range(end.reply);
    const std::string directory = directory_of(request);
    const std::vector<bool> holds = holding(reply.found, directory);
    LockInfo& info = *request.info;
    info.key = request.key;
    for (std::size_t index = 0; index < reply.found.size(); ++index) {
      const KeyValue& key = reply.found[index];
      if (is_of_another_lock(key, directory)) continue;
      HolderName name = holder_of(key);
      if (!holds[index]) {
        info.queue.push_back(std::move(name.text));
        continue;
      }
      const KeyKind kind = kind_of(key.key, directory);
      info.type = type_of(kind);
      HolderInfo& holder = info.holders.emplace_back();
      holder.id = std::move(name.text);
      const std::size_t space = key.value.find(' ');
      if (!name.foreign && space != std::string::npos) {
        holder.announced = key.value.substr(space + 1);
      }
      if (kind == KeyKind::read) continue;
      info.fencing_token = static_cast<std::uint64_t>(key.create_revision) << 16U;
    }
    info.locked = !info.holders.empty();
    context_.outbox.complete(request, sink, Outcome::Kind::granted);
  });
}

void Administration::list(Request& request, Sink& sink) {
  const std::string begin = context_.prefix.empty() ? std::string(1, '\0') : context_.prefix;
  const std::string all =
      encode_range({.key = begin, .end = end_of_prefix(context_.prefix), .keys_only = true});
  context_.link.call(Method::range, all, [this, &request, &sink](CallEnd&& end) {
    if (!end.ok()) return fail(request, sink, end);
    RangeReply reply = decode_range(end.reply);
    if (request.part != nullptr) {
      request.part->examined += reply.found.size();
      request.part->total = reply.found.size();
      request.part->cursor = {};
    }
    const std::map<std::string, LockKeys> locks = by_lock(std::move(reply), context_.prefix);
    if (request.part != nullptr && request.part->awaited) {
      list_awaited(locks, context_.prefix, request);
    } else {
      for (const auto& [name, keys] : locks) {
        const bool matches = !keys.places.empty() && glob_matches(request.key, name);
        if (matches) request.names->push_back(name);
      }
    }
    context_.outbox.complete(request, sink, Outcome::Kind::granted);
  });
}

// The keys of the holders alone: the next one in the queue is granted the lock.
void Administration::force_release(Request& request, Sink& sink) {
  context_.link.call(Method::range, queue_of(request), [this, &request, &sink](CallEnd&& end) {
    if (!end.ok()) return fail(request, sink, end);
    RangeReply reply = decode_range(end.reply);
    const std::string directory = directory_of(request);
    const std::vector<bool> holds = holding(reply.found, directory);
    std::vector<KeyValue> holders;
    for (std::size_t index = 0; index < holds.size(); ++index) {
      KeyValue& key = reply.found[index];
      if (holds[index] && !is_of_another_lock(key, directory)) holders.push_back(std::move(key));
    }
    end_holds(request, sink, std::move(holders), false);
  });
}

// One after the other, the last one first.
void Administration::end_holds(Request& request, Sink& sink, std::vector<KeyValue> holders,
                               bool any) {
  if (holders.empty()) {
    return context_.outbox.complete(request, sink,
                                    any ? Outcome::Kind::granted : Outcome::Kind::gone);
  }
  const KeyValue holder = std::move(holders.back());
  holders.pop_back();
  Transaction transaction;
  transaction.if_created(holder.key, holder.create_revision).then_delete(holder.key);
  context_.link.call(
      Method::txn, transaction.encode(),
      [this, &request, &sink, left = std::move(holders), any](CallEnd&& deleted) mutable {
        if (!deleted.ok()) return fail(request, sink, deleted);
        const bool existed = decode_transaction(deleted.reply).succeeded;
        end_holds(request, sink, std::move(left), any || existed);
      });
}

}  // namespace latchkey::inline v1::detail::etcd

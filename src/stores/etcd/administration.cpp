// The requests of administrators about the locks in an etcd cluster.
// SPDX-License-Identifier: BSL-1.0
#include "stores/etcd/administration.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "core/text/glob.hpp"

namespace latchkey::inline v1::detail::etcd {
namespace {

struct Counts {
  std::uint64_t places = 0, markers = 0;
};

/// The name of the lock, if the last part of the key is its lease, as in every key of a lock.
std::optional<std::string_view> lock_of(const KeyValue& key) {
  const std::string_view text = key.key;
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos || slash == 0 || key.lease == 0) return std::nullopt;
  std::uint64_t lease = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + slash + 1, end, lease, 16);
  const bool own =
      error == std::errc() && stop == end && lease == static_cast<std::uint64_t>(key.lease);
  return own ? std::optional(text.substr(0, slash)) : std::nullopt;
}

// In the range of the keys there is also one of a lock whose name is the prefix without its slash.
std::map<std::string, Counts> counted_by_lock(const RangeReply& reply, const std::string& prefix) {
  const std::string markers = marker_directory(prefix);
  std::map<std::string, Counts> locks;
  for (const KeyValue& key : reply.found) {
    const auto name = lock_of(key);
    if (!name || !name->starts_with(prefix)) continue;
    if (name->starts_with(markers)) {
      ++locks[std::string(name->substr(markers.size()))].markers;
    } else {
      ++locks[std::string(name->substr(prefix.size()))].places;
    }
  }
  return locks;
}

void list_awaited(const std::map<std::string, Counts>& locks, Request& request) {
  std::vector<std::pair<std::uint64_t, std::string>> found;
  for (const auto& [name, counts] : locks) {
    const std::uint64_t waiters = counts.markers + (counts.places > 0 ? counts.places - 1 : 0);
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

std::string Administration::queue_of(const Request& request) const {
  const std::string directory = context_.prefix + std::string(request.key) + '/';
  return encode_range(
      {.key = directory, .end = end_of_prefix(directory), .order = Range::Order::first_created});
}

void Administration::inspect(Request& request, Sink& sink) {
  context_.link.call(Method::range, queue_of(request), [this, &request, &sink](CallEnd&& end) {
    if (!end.ok()) return fail(request, sink, end);
    const RangeReply reply = decode_range(end.reply);
    LockInfo& info = *request.info;
    info.key = request.key;
    info.locked = !reply.found.empty();
    for (const KeyValue& key : reply.found) {
      HolderName name = holder_of(key);
      if (&key != &reply.found.front()) {
        info.queue.push_back(std::move(name.text));
        continue;
      }
      HolderInfo& holder = info.holders.emplace_back();
      holder.id = std::move(name.text);
      const std::size_t space = key.value.find(' ');
      if (!name.foreign && space != std::string::npos) {
        holder.announced = key.value.substr(space + 1);
      }
      info.fencing_token = static_cast<std::uint64_t>(key.create_revision) << 16U;
    }
    context_.outbox.complete(request, sink, Outcome::Kind::granted);
  });
}

void Administration::list(Request& request, Sink& sink) {
  const std::string begin = context_.prefix.empty() ? std::string(1, '\0') : context_.prefix;
  std::string all =
      encode_range({.key = begin, .end = end_of_prefix(context_.prefix), .keys_only = true});
  context_.link.call(Method::range, std::move(all), [this, &request, &sink](CallEnd&& end) {
    if (!end.ok()) return fail(request, sink, end);
    const RangeReply reply = decode_range(end.reply);
    const std::map<std::string, Counts> locks = counted_by_lock(reply, context_.prefix);
    if (request.part != nullptr) {
      request.part->examined += reply.found.size();
      request.part->total = reply.found.size();
      request.part->cursor = {};
    }
    if (request.part != nullptr && request.part->awaited) {
      list_awaited(locks, request);
    } else {
      for (const auto& [name, counts] : locks) {
        if (counts.places > 0 && glob_matches(request.key, name)) request.names->push_back(name);
      }
    }
    context_.outbox.complete(request, sink, Outcome::Kind::granted);
  });
}

// The holder's key alone: the next one in the queue is granted the lock.
void Administration::force_release(Request& request, Sink& sink) {
  context_.link.call(Method::range, queue_of(request), [this, &request, &sink](CallEnd&& end) {
    if (!end.ok()) return fail(request, sink, end);
    const RangeReply reply = decode_range(end.reply);
    if (reply.found.empty()) {
      return context_.outbox.complete(request, sink, Outcome::Kind::gone);
    }
    const KeyValue& holder = reply.found.front();
    Transaction transaction(holder.key, {}, holder.create_revision);
    context_.link.call(Method::txn, transaction.then_delete(holder.key).encode(),
                       [this, &request, &sink](CallEnd&& deleted) {
                         if (!deleted.ok()) return fail(request, sink, deleted);
                         const bool done = decode_transaction(deleted.reply).succeeded;
                         context_.outbox.complete(
                             request, sink, done ? Outcome::Kind::granted : Outcome::Kind::gone);
                       });
  });
}

}  // namespace latchkey::inline v1::detail::etcd

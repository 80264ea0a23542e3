// Inspects, lists and releases locks, whoever holds them.
// SPDX-License-Identifier: BSL-1.0
#include "stores/zookeeper/administration.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "core/text/glob.hpp"
#include "core/uuid_text.hpp"
#include "stores/zookeeper/node_name.hpp"

namespace latchkey::inline v1::detail::zookeeper {
namespace {

using Kind = Outcome::Kind;

/// How many folders are read at the same time.
constexpr std::size_t most_reads = 64;

/// latchkey writes the id of the hold, and its note; Curator writes the address of the host.
HolderInfo holder(const Ticket& ticket, const std::string& data) {
  const std::size_t space = data.find(' ');
  const auto id = HoldId::parse(std::string_view(data).substr(0, space));
  HolderInfo info;
  if (id && owner_of(*id) == ticket.owner) {
    info.id = id->text();
    if (space != std::string::npos) info.announced = data.substr(space + 1);
    return info;
  }
  info.id.resize(uuid_text_size);
  write_uuid(info.id.data(), ticket.owner);
  info.announced = data;
  return info;
}

LockType type_of(const Ticket& ticket) noexcept {
  switch (ticket.kind) {
    case Ticket::Kind::read: return LockType::READ;
    case Ticket::Kind::write: return LockType::WRITE;
    case Ticket::Kind::exclusive: return LockType::REENTRANT;
  }
  return LockType::REENTRANT;
}

}  // namespace

/// One inspect.
struct Administration::Look {
  std::vector<Ticket> tickets;
  std::vector<std::string> data;
  std::vector<bool> holds;
  std::size_t missing = 0;
};

void Administration::inspect(const CallRef& call) {
  const std::string lock = nodes_.path_of(call->request->key);
  nodes_.session().children(lock, false, [this, call, lock](Reply&& reply) {
    const auto refusal = Nodes::refusal(reply.code, lock);
    if (!refusal.empty()) return calls_.refuse(call, refusal);
    auto look = std::make_shared<Look>();
    look->tickets = Nodes::tickets(reply.children);
    look->data.resize(look->tickets.size());
    const auto holding = holders(look->tickets);
    LockInfo& info = *call->request->info;
    info = LockInfo{};
    info.key = call->request->key;
    info.locked = !holding.empty();
    if (info.locked) info.type = type_of(*holding.front());
    info.subscribers = static_cast<std::uint64_t>(std::ranges::count_if(
        reply.children, [](const std::string& name) { return is_subscriber(name); }));
    look->missing = look->tickets.size();
    if (look->missing == 0) return calls_.complete(call, Kind::granted);
    for (std::size_t index = 0; index < look->tickets.size(); ++index) {
      const Ticket& ticket = look->tickets[index];
      look->holds.push_back(std::ranges::find(holding, &ticket) != holding.end());
      nodes_.session().get(lock + '/' + ticket.name, [this, call, look, index](Reply&& read) {
        if (read.code == ZOK) look->data[index] = std::move(read.data);
        if (--look->missing != 0) return;
        LockInfo& found = *call->request->info;
        for (std::size_t at = 0; at < look->tickets.size(); ++at) {
          HolderInfo one = holder(look->tickets[at], look->data[at]);
          look->holds[at] ? found.holders.push_back(std::move(one))
                          : found.queue.push_back(std::move(one.id));
        }
        calls_.complete(call, Kind::granted);
      });
    }
  });
}

void Administration::force_release(const CallRef& call) {
  const std::string lock = nodes_.path_of(call->request->key);
  nodes_.session().children(lock, false, [this, call, lock](Reply&& reply) {
    const auto refusal = Nodes::refusal(reply.code, lock);
    if (!refusal.empty()) return calls_.refuse(call, refusal);
    const std::vector<Ticket> tickets = Nodes::tickets(reply.children);
    const auto holding = holders(tickets);
    if (holding.empty()) return calls_.complete(call, Kind::gone);
    struct Progress {
      std::size_t missing;
      bool any = false;
    };
    auto progress = std::make_shared<Progress>(Progress{holding.size()});
    for (const Ticket* const ticket : holding) {
      const std::string path = lock + '/' + ticket->name;
      nodes_.session().remove(path, [this, call, path, progress](Reply&& removed) {
        const auto why = Nodes::refusal(removed.code, path);
        if (!why.empty()) return calls_.refuse(call, why);
        progress->any = progress->any || removed.code == ZOK;
        if (--progress->missing > 0) return;
        calls_.complete(call, progress->any ? Kind::granted : Kind::gone);
      });
    }
  });
}

/// One listing: a walk over the folders below that of the locks.
struct Administration::Walk {
  CallRef call;
  std::string pattern;
  bool awaited = false;
  std::deque<std::string> folders;  ///< to be read
  std::size_t reading = 0;
  std::uint64_t examined = 0;
  std::vector<std::pair<std::uint64_t, std::string>> found;  ///< waiters, key
};

void Administration::list(const CallRef& call) {
  auto walk = std::make_shared<Walk>();
  walk->call = call;
  walk->pattern = call->request->key;
  walk->awaited = call->request->part != nullptr && call->request->part->awaited;
  walk->folders.push_back(nodes_.folder());
  visit(walk);
}

void Administration::visit(const std::shared_ptr<Walk>& walk) {
  while (!walk->folders.empty() && walk->reading < most_reads) {
    std::string path = std::move(walk->folders.front());
    walk->folders.pop_front();
    ++walk->reading;
    nodes_.session().children(path.empty() ? "/" : path, false, [this, walk, path](Reply&& reply) {
      on_folder(walk, path, std::move(reply));
    });
  }
  if (walk->reading == 0) finish(*walk);
}

void Administration::on_folder(const std::shared_ptr<Walk>& walk, const std::string& path,
                               Reply&& reply) {
  --walk->reading;
  std::uint64_t subscribers = 0;
  for (const std::string& name : reply.children) {
    if (is_subscriber(name)) {
      ++subscribers;
    } else if (!parse_node(name) && !(path.empty() && name == "zookeeper")) {
      walk->folders.push_back(path + '/' + name);
    }
  }
  if (path != nodes_.folder()) {
    ++walk->examined;
    const std::vector<Ticket> tickets = Nodes::tickets(reply.children);
    const std::size_t holding = holders(tickets).size();
    const std::uint64_t waiters = subscribers + tickets.size() - holding;
    const bool counts = walk->awaited ? waiters > 0 : holding > 0;
    if (counts) {
      const std::string key = nodes_.key_of(path);
      if (glob_matches(walk->pattern, key)) walk->found.emplace_back(waiters, key);
    }
  }
  visit(walk);
}

void Administration::finish(Walk& walk) {
  if (walk.call->request == nullptr) return;
  const Request& request = *walk.call->request;
  if (walk.awaited)
    std::ranges::sort(walk.found, std::greater(), &std::pair<std::uint64_t, std::string>::first);
  for (auto& [waiters, key] : walk.found) {
    request.names->push_back(std::move(key));
    if (walk.awaited) request.part->waiters.push_back(waiters);
  }
  if (request.part != nullptr) {
    request.part->cursor = {};
    request.part->examined += walk.examined;
    request.part->total = walk.awaited ? walk.found.size() : walk.examined;
  }
  calls_.complete(walk.call, Kind::granted);
}

}  // namespace latchkey::inline v1::detail::zookeeper

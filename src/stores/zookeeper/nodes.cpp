// The nodes of locks.
// SPDX-License-Identifier: BSL-1.0
#include "stores/zookeeper/nodes.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <latchkey/detail/in_quotes.hpp>
#include "stores/zookeeper/node_name.hpp"

namespace latchkey::inline v1::detail::zookeeper {
namespace {

/// The entry of this lock that has this path; empty: it is none.
std::optional<Ticket> made_node(std::string_view path, std::string_view lock) {
  const bool below =
      path.size() > lock.size() && path.starts_with(lock) && path[lock.size()] == '/';
  return below ? parse_node(path.substr(lock.size() + 1)) : std::nullopt;
}

}  // namespace

std::string Nodes::path_of(std::string_view key) const { return folder_ + '/' + path_of_key(key); }

std::string Nodes::key_of(std::string_view path) const {
  return key_of_path(path.substr(std::min(folder_.size() + 1, path.size())));
}

std::vector<Ticket> Nodes::tickets(const std::vector<std::string>& names) {
  std::vector<Ticket> all;
  all.reserve(names.size());
  for (const std::string& name : names) {
    if (auto ticket = parse_node(name)) all.push_back(*std::move(ticket));
  }
  sort_tickets(all);
  return all;
}

Refusal Nodes::refusal(int code, std::string_view path) {
  if (code == ZOK || code == ZNONODE) return {};
  if (code == ZNOAUTH) {
    return "the server does not let this user use " + in_quotes(path) +
           ": check user and password, and the ACL of that node";
  }
  if (code == ZUNIMPLEMENTED) {
    return "the server is older than ZooKeeper 3.5.3, which latchkey needs";
  }
  return "the server rejects " + in_quotes(path) + ": " + ::zerror(code);
}

void Nodes::make(const std::string& lock, const std::string& name, std::string data,
                 Session::Mode mode, Handler handler) {
  try_make(lock, name, std::move(data), mode, std::move(handler), {}, 3);
}

void Nodes::make_and_list(const std::string& lock, const std::string& name, std::string data,
                          Handler made, Handler listed) {
  try_make(lock, name, std::move(data), Session::Mode::sequence, std::move(made), std::move(listed),
           3);
}

// Both are sent at once: the server runs them in this order. The server may delete an empty folder
// between two steps, thus the attempts.
void Nodes::try_make(std::string lock, std::string name, std::string data, Session::Mode mode,
                     Handler made, Handler listed, int attempts) {
  const auto is_made = std::make_shared<bool>(false);
  const std::string path = lock + '/' + name;
  const std::string_view text = data;
  Handler listed_once = listed;
  session().create(
      path, std::string(text), mode,
      [=, this, data = std::move(data), listed = std::move(listed)](Reply&& reply) mutable {
        *is_made = reply.code == ZOK && made_node(reply.path, lock);
        if (reply.code != ZNONODE || attempts == 1) return made(std::move(reply));
        make_folders(lock);
        try_make(lock, name, std::move(data), mode, made, std::move(listed), attempts - 1);
      });
  if (!listed_once) return;
  session().children(lock, false, [is_made, listed_once](Reply&& reply) {
    if (*is_made) listed_once(std::move(reply));
  });
}

void Nodes::make_folders(const std::string& lock) {
  for (std::size_t end = lock.find('/', 1);; end = lock.find('/', end + 1)) {
    session().create(lock.substr(0, end), {}, Session::Mode::container, [](Reply&&) {});
    if (end == std::string::npos) return;
  }
}

TicketOwner NodeQueue::owner_of(const HoldId& id) const noexcept { return zookeeper::owner_of(id); }

std::string NodeQueue::path_of(const Place& place) const {
  return nodes_.path_of(place.line->key) + '/' + place.ticket.name;
}

void NodeQueue::create(Place& place) {
  const std::string lock = nodes_.path_of(place.line->key);
  nodes_.make_and_list(
      lock, node_prefix(place.id, place.type), node_data(place.id, place.note),
      [this, &place, lock](Reply&& reply) {
        Ticket ticket;
        Refusal refusal = Nodes::refusal(reply.code, lock);
        if (reply.code == ZNONODE)
          refusal = "the server deletes " + in_quotes(lock) + " again and again";
        if (reply.code == ZOK) {
          if (const auto parsed = made_node(reply.path, lock)) {
            ticket = *parsed;
          } else {
            refusal = "the server says that it made " + in_quotes(reply.path) + " below " +
                      in_quotes(lock);
          }
        }
        recipe_.created(place, refusal, std::move(ticket),
                        static_cast<std::uint64_t>(reply.created));
      },
      [this, &place, key = place.line->key](Reply&& reply) {
        listed(key, &place, std::move(reply));
      });
}

void NodeQueue::list(Line& line, Place* asker) {
  nodes_.session().reach_leader(nodes_.path_of(line.key), Session::Reach::leader);
  nodes_.session().children(
      nodes_.path_of(line.key), false,
      [this, asker, key = line.key](Reply&& reply) { listed(key, asker, std::move(reply)); });
}

// The line is there: a place of it, or the line itself, waits for this.
void NodeQueue::listed(const std::string& key, Place* asker, Reply&& reply) {
  Line* const line = recipe_.find(key);
  if (line == nullptr) return;
  recipe_.listed(*line, asker, Nodes::refusal(reply.code, nodes_.path_of(key)),
                 Nodes::tickets(reply.children));
}

void NodeQueue::watch(Line& line, const std::string& name) {
  nodes_.session().exists(nodes_.path_of(line.key) + '/' + name, true,
                          [this, key = line.key, name](Reply&& reply) {
                            if (reply.code == ZNONODE) deleted(key, name);
                          });
}

void NodeQueue::deleted(std::string_view key, std::string_view name) {
  if (Line* const line = recipe_.find(key)) recipe_.deleted(*line, name);
}

void NodeQueue::on_node_event(std::string_view path, NodeEvent event) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos || slash <= nodes_.folder().size()) return;
  const std::string key = nodes_.key_of(path.substr(0, slash));
  const std::string_view name = path.substr(slash + 1);
  if (event == NodeEvent::deleted) return deleted(key, name);
  if (Line* const line = recipe_.find(key)) recipe_.changed(*line, name);
}

void NodeQueue::remove(Place& place) {
  const std::string path = path_of(place);
  nodes_.session().remove(path, [this, &place, path](Reply&& reply) {
    recipe_.removed(place, Nodes::refusal(reply.code, path), reply.code == ZOK);
  });
}

// A character of a key takes up to three in a path.
std::size_t NodeQueue::watch_size(const Place& place) const noexcept {
  constexpr std::size_t slashes_and_length = 6;
  return nodes_.folder().size() + 3 * place.line->key.size() + place.ticket.name.size() +
         slashes_and_length;
}

void NodeQueue::check(Place& place, bool prolongs) {
  const std::string path = path_of(place);
  nodes_.session().reach_leader(path, prolongs ? Session::Reach::majority : Session::Reach::leader);
  nodes_.session().exists(path, place.own_watch > 0, [this, &place, path](Reply&& reply) {
    recipe_.checked(place, Nodes::refusal(reply.code, path), reply.code == ZOK,
                    static_cast<std::uint64_t>(reply.created));
  });
}

void NodeQueue::convert(Place& place) {
  const std::string lock = nodes_.path_of(place.line->key);
  const std::string reader = reader_at(place.id, place.ticket.name);
  nodes_.session().replace(path_of(place), lock + '/' + reader, node_data(place.id, place.note),
                           [this, &place, reader, lock](Reply&& reply) {
                             Ticket ticket;
                             if (const auto parsed = parse_node(reader)) ticket = *parsed;
                             recipe_.converted(place, Nodes::refusal(reply.code, lock),
                                               reply.code == ZOK, std::move(ticket));
                           });
}

}  // namespace latchkey::inline v1::detail::zookeeper

// SlotMover: migrates a hash slot from one node of a cluster to another.
#include "support/servers/slot_mover.hpp"

#include <algorithm>
#include <stdexcept>

#include "redis/protocol/command_buffer.hpp"
#include "support/servers/cluster_view.hpp"

namespace latchkey::tests {
namespace {

void check(const Reply& reply) {
  if (reply.is_error()) throw std::runtime_error(reply.text());
}

}  // namespace

SlotMover::SlotMover(const SlotOwner& from, const SlotOwner& to,
                     const std::vector<const RedisServer*>& others, std::string password)
    : from_id_(from.id),
      to_id_(to.id),
      to_port_(std::to_string(to.server.port())),
      password_(std::move(password)),
      to_(to.server.client()),
      from_{&from.server, from.server.client()} {
  for (const RedisServer* const each : others) others_.push_back({each, each->client()});
}

// Prepares the new node first, because the old one redirects clients to it at once.
void SlotMover::begin(std::size_t slot) {
  const std::string number = std::to_string(slot);
  check(to_({"CLUSTER", "SETSLOT", number, "IMPORTING", from_id_}));
  check(from_.client({"CLUSTER", "SETSLOT", number, "MIGRATING", to_id_}));
}

std::size_t SlotMover::move_keys(std::size_t slot, std::size_t most) {
  constexpr std::size_t at_once = 100;
  std::size_t moved = 0;
  while (moved < most) {
    const std::string count = std::to_string(std::min(at_once, most - moved));
    const Reply keys = from_.client({"CLUSTER", "GETKEYSINSLOT", std::to_string(slot), count});
    check(keys);
    if (keys.list().empty()) break;
    migrate(keys.list());
    moved += keys.list().size();
  }
  return moved;
}

// The data that waiters of latchkey leave beside a lock may be on both nodes, because scripts do
// not name it as a key. A lock never is.
void SlotMover::migrate(const std::vector<std::string>& keys) {
  std::vector<std::string> locks, beside;
  for (const std::string& key : keys) {
    (key.starts_with("latchkey_") ? beside : locks).push_back(key);
  }
  if (!locks.empty()) send_migrate(locks, false);
  if (!beside.empty()) send_migrate(beside, true);
}

void SlotMover::send_migrate(const std::vector<std::string>& keys, bool replace) {
  detail::redis::CommandBuffer command;
  command.begin(7 + (replace ? 1U : 0U) + (password_.empty() ? 0U : 2U) + keys.size());
  for (const char* const word : {"MIGRATE", "127.0.0.1"}) command.word(word);
  command.word(to_port_);
  for (const char* const word : {"", "0", "5000"}) command.word(word);
  if (replace) command.word("REPLACE");
  if (!password_.empty()) {
    command.word("AUTH");
    command.word(password_);
  }
  command.word("KEYS");
  for (const std::string& key : keys) command.word(key);
  check(from_.client.send(command.bytes()));
}

// Assigns the slot to the new node first, so that it always has an owner.
void SlotMover::end(std::size_t slot) {
  check(to_({"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", to_id_}));
  assign(from_, slot);
  for (Node& each : others_) assign(each, slot);
}

// A node that already knows the new owner may refuse, and a master that has lost all slots becomes
// a replica and closes its connections. Neither is an error.
void SlotMover::assign(Node& node, std::size_t slot) {
  const std::string number = std::to_string(slot);
  const Reply reply = node.client({"CLUSTER", "SETSLOT", number, "NODE", to_id_});
  if (!reply.is_error()) return;
  node.client = node.server->client();
  const ClusterView view(node.client({"CLUSTER", "NODES"}).text());
  const ClusterMember* const owner = view.owner_of(slot);
  if (owner == nullptr || owner->id != to_id_) throw std::runtime_error(reply.text());
}

}  // namespace latchkey::tests

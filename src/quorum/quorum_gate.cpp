// Several servers as one backend: how a WRITE gets past READs that overlap.
#include <chrono>
#include <string>
#include <string_view>
#include <unordered_map>

#include "quorum/quorum_backend.hpp"

namespace latchkey::detail::quorum {
namespace {

using namespace std::chrono_literals;

/// A WRITE that was busy for so long shuts the gate.
constexpr std::chrono::milliseconds patience_of_writers = 1s;
/// How long it stays shut without being asked for again: longer than the pause between two
/// attempts.
constexpr std::chrono::milliseconds gate_lease = 2s;
/// A key has at most 1 KiB.
constexpr std::size_t longest_key = 1'024;

/// On the same node of a cluster as the key. Empty: the key is too long for it.
std::string gate_of(std::string_view key) {
  const bool tagged = key.find('{') != std::string_view::npos;
  std::string gate = tagged ? "latchkey_writer:" : "latchkey_writer:{";
  gate += key;
  if (!tagged) gate += '}';
  return gate.size() <= longest_key ? gate : std::string();
}

}  // namespace

// Readers share the gate for no longer than a server takes from one command to the next, so whoever
// wants it for itself soon has it. A server that forbids its key has no gate: nobody is kept out.
void QuorumBackend::look_at_gate(Operation& made) {
  made.gate = gate_of(made.key);
  if (made.gate.empty()) return;
  made.shut.resize(servers_.size());
  made.at_gate.resize(2 * servers_.size());
  const HoldId id{space_, ++last_id_};
  for (std::size_t index = 0; index < made.at_gate.size(); ++index) {
    const bool enters = index % 2 == 0;
    SubRequest& errand = made.at_gate[index];
    errand.part = enters ? SubRequest::Part::enters_gate : SubRequest::Part::leaves_gate;
    errand.verb = enters ? Verb::acquire : Verb::release;
    errand.type = LockType::READ;
    errand.key = made.gate;
    errand.id = id;
    errand.lease = gate_lease;
    errand.sent = clock_.now();
    errand.of = &made;
    errand.server = index / 2;
    send_to(errand);
  }
}

void QuorumBackend::shut_gate(const Operation& busy, Later& later) {
  const Clock::time_point now = clock_.now();
  Writer& writer = writers_[busy.id];
  if (writer.since == Clock::time_point{}) {
    writer.since = now;
    writer.key = gate_of(busy.key);
  }
  writer.seen = now;
  if (writer.key.empty() || now - writer.since < patience_of_writers) return;
  if (writer.gate.number == 0) writer.gate = {space_, ++last_id_};
  change_gate(Verb::acquire, writer, later);
}

void QuorumBackend::open_gate(const HoldId& id, Later& later) {
  const auto found = writers_.find(id);
  if (found == writers_.end()) return;
  if (found->second.gate.number != 0) change_gate(Verb::release, found->second, later);
  writers_.erase(found);
}

void QuorumBackend::change_gate(Verb verb, const Writer& writer, Later& later) {
  Operation& made =
      operation(verb, writer.gate, writer.gate, writer.key, LockType::WRITE, gate_lease);
  made.is_gate = true;
  for (std::size_t server = 0; server < servers_.size(); ++server) send_to(made, server);
  later.start.push_back(&made);
}

// Who gives up its wait says nothing: the gate opens by its lease.
void QuorumBackend::forget_writers() {
  const Clock::time_point now = clock_.now();
  std::erase_if(writers_, [&](const auto& each) { return now - each.second.seen > gate_lease; });
}

}  // namespace latchkey::detail::quorum

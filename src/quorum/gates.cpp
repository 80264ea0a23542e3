// The gates of a quorum, which let a WRITE in although READs overlap.
// SPDX-License-Identifier: BSL-1.0
#include "quorum/gates.hpp"

#include <chrono>
#include <new>
#include <string_view>
#include <utility>

namespace latchkey::inline v1::detail::quorum {
namespace {

using namespace std::chrono_literals;

/// A WRITE that was busy for this time shuts the gate.
constexpr std::chrono::milliseconds patience_of_writers = 1s;
/// How long the gate stays shut unless the WRITE tries again: longer than the pause between two
/// attempts.
constexpr std::chrono::milliseconds gate_lease = 2s;
/// The maximum size of a key, in bytes.
constexpr std::size_t longest_key = 1'024;

/// The gate's key, on the same node of a cluster as the lock's key. The gate of a key with a brace
/// ends in `:`, so that `a` and `{a}` have gates of their own. Empty if the result would be too
/// long.
std::string gate_of(std::string_view key) {
  const bool tagged = key.find('{') != std::string_view::npos;
  std::string gate(gate_prefix);
  if (!tagged) gate += '{';
  gate += key;
  gate += tagged ? ':' : '}';
  return gate.size() <= longest_key ? gate : std::string();
}

}  // namespace

void Gates::pass(Operation& read, const HoldId& id) {
  read.gate = gate_of(read.key);
  if (read.gate.empty()) return;
  read.at_gate.resize(2 * read.sub_requests.size());
  for (std::size_t index = 0; index < read.at_gate.size(); ++index) {
    const bool enters = index % 2 == 0;
    SubRequest& sub_request = read.at_gate[index];
    sub_request.part = enters ? SubRequest::Part::enters_gate : SubRequest::Part::leaves_gate;
    sub_request.verb = enters ? Verb::acquire : Verb::release;
    sub_request.type = LockType::READ;
    sub_request.key = read.gate;
    sub_request.id = id;
    sub_request.lease = gate_lease;
    sub_request.of = &read;
    sub_request.server = index / 2;
  }
}

std::list<Operation> Gates::shut(const Operation& busy, const HoldId& fresh,
                                 Clock::time_point now) noexcept {
  try {
    auto found = writers_.find(busy.id);
    if (found == writers_.end()) {
      Writer made{.gate = {}, .since = now, .seen = now, .key = gate_of(busy.key)};
      found = writers_.emplace(busy.id, std::move(made)).first;
    }
    Writer& writer = found->second;
    writer.seen = now;
    if (writer.key.empty() || now - writer.since < patience_of_writers) return {};
    if (writer.gate.number == 0) writer.gate = fresh;
    return change(Verb::acquire, writer, busy.sub_requests.size());
  } catch (const std::bad_alloc&) {
    return {};
  }
}

std::list<Operation> Gates::open(const HoldId& id, std::size_t servers) noexcept {
  const auto found = writers_.find(id);
  if (found == writers_.end()) return {};
  const Writer writer = std::move(found->second);
  writers_.erase(found);
  try {
    if (writer.gate.number != 0) return change(Verb::release, writer, servers);
  } catch (const std::bad_alloc&) {
    return {};
  }
  return {};
}

std::list<Operation> Gates::change(Verb verb, const Writer& writer, std::size_t servers) {
  std::list<Operation> one;
  Operation& made = one.emplace_back(verb, writer.key, servers);
  made.id = made.wire = writer.gate;
  made.type = LockType::WRITE;
  made.lease = gate_lease;
  made.is_gate = true;
  return one;
}

void Gates::forget_writers(Clock::time_point now) noexcept {
  std::erase_if(writers_, [&](const auto& each) { return now - each.second.seen > gate_lease; });
}

}  // namespace latchkey::inline v1::detail::quorum

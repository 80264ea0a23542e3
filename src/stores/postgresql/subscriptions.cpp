// Adds, removes and serves listeners.
// SPDX-License-Identifier: BSL-1.0
#include "stores/postgresql/subscriptions.hpp"

#include <algorithm>

namespace latchkey::inline v1::detail::postgresql {

Subscriptions::Listener Subscriptions::listener(const Request& request, Sink& sink) noexcept {
  return {&sink, request.type == LockType::FAIR ? request.id : HoldId{}};
}

bool Subscriptions::add(Listeners& all, std::string_view key, const Listener& added) {
  const auto at = all.find(key);
  if (at == all.end()) {
    all.emplace(key, std::vector<Listener>{added});
    return true;
  }
  const bool is_new = std::ranges::find(at->second, added) == at->second.end();
  if (is_new) at->second.push_back(added);
  return is_new;
}

void Subscriptions::remove(Listeners& all, std::string_view key, const Listener& removed) noexcept {
  const auto at = all.find(key);
  if (at == all.end()) return;
  std::erase(at->second, removed);
  if (at->second.empty()) all.erase(at);
}

bool Subscriptions::add(const Request& request, Sink& sink) {
  return add(keys_, request.key, listener(request, sink));
}

void Subscriptions::remove(const Request& request, Sink& sink) noexcept {
  remove(keys_, request.key, listener(request, sink));
}

bool Subscriptions::watch(const Request& request, Sink& sink) {
  return add(watched_, request.key, {&sink, request.id});
}

void Subscriptions::unwatch(const Request& request, Sink& sink) noexcept {
  remove(watched_, request.key, {&sink, request.id});
}

bool Subscriptions::wanted(const Request& request) const {
  const auto at = keys_.find(request.key);
  if (at == keys_.end()) return false;
  const HoldId id = request.type == LockType::FAIR ? request.id : HoldId{};
  return std::ranges::find(at->second, id, &Listener::id) != at->second.end();
}

Subscriptions::Rows Subscriptions::rows() const {
  Rows all;
  for (const auto& [key, listeners] : keys_) {
    for (const Listener& each : listeners) {
      all.keys.push_back(key);
      all.waiters.push_back(each.id == HoldId{} ? std::string() : each.id.text());
    }
  }
  return all;
}

void Subscriptions::deliver(std::string_view payload, stores::Outbox& outbox) const {
  const std::size_t space = payload.find(' ');
  if (space == std::string_view::npos) return;
  const std::string_view key = payload.substr(space + 1);
  HoldId id;
  if (space > 0) id = HoldId::parse(payload.substr(0, space)).value_or(HoldId{});
  const auto at = keys_.find(key);
  if (at == keys_.end()) return;
  for (const Listener& each : at->second) {
    if (each.id == id) outbox.notify(*each.sink, Notification::Kind::released, key, id);
  }
}

void Subscriptions::deliver_forced(std::string_view key, stores::Outbox& outbox) {
  const auto at = watched_.find(key);
  if (at == watched_.end()) return;
  std::vector<Listener> told = std::move(at->second);
  watched_.erase(at);
  while (!told.empty()) {
    Sink* const sink = told.back().sink;
    outbox.notify(*sink, Notification::Kind::changed, key);
    std::erase_if(told, [&](const Listener& each) { return each.sink == sink; });
  }
}

}  // namespace latchkey::inline v1::detail::postgresql

// A recipe without a store: the test answers each operation.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stores/zookeeper/recipe/queue_recipe.hpp"

namespace latchkey::tests {

using namespace detail::zookeeper;
namespace stores = detail::stores;
using namespace std::chrono_literals;
using OutcomeKind = Outcome::Kind;
using TicketKind = Ticket::Kind;

inline Ticket ticket(std::uint32_t order, TicketKind kind = TicketKind::exclusive) {
  Ticket made;
  made.name = std::to_string(order);
  made.order = order;
  made.kind = kind;
  made.owner = {1, order};
  return made;
}

/// Remembers what was started, and delivers what is completed.
class RecipeTest : public ::testing::Test, public QueueStore, public Sink {
 protected:
  TicketOwner owner_of(const HoldId& id) const noexcept override { return {1, id.number}; }
  void create(Place& place) override { log_.push_back("create"), place_ = &place; }
  void list(Line& line, Place*) override { log_.push_back("list"), line_ = &line; }
  void watch(Line&, const std::string& name) override { log_.push_back("watch " + name); }
  std::size_t watch_size(const Place&) const noexcept override { return watch_size_; }
  void remove(Place& place) override { log_.push_back("remove"), place_ = &place; }
  void check(Place& place, bool prolongs) override {
    log_.push_back(prolongs ? "check and prolong" : "check");
    if (place.own_watch > 0) log_.back() += " and watch";
    place_ = &place;
  }
  void convert(Place& place) override { log_.push_back("convert"), place_ = &place; }

  void completed(Request&, Outcome&& outcome) noexcept override {
    outcomes_.push_back(std::move(outcome));
  }
  void notified(const Notification& notification) noexcept override {
    notes_.push_back(notification.kind);
  }

  Request request(Verb verb, LockType type = LockType::REENTRANT) {
    Request made;
    made.verb = verb;
    made.type = type;
    made.key = "key";
    made.id = {{1, 1}, 7};
    made.lease = 1s;
    return made;
  }
  void submit(Request& request) {
    recipe_.submit(request, *this);
    deliver();
  }
  void deliver() {
    std::array<stores::Delivery, 16> some;
    while (const std::size_t count = outbox_.take(some)) {
      for (stores::Delivery& one : std::span(some).first(count)) one.hand_over();
    }
  }
  /// The node was made with the number 7; these are the nodes of the lock.
  void made(std::vector<Ticket> tickets) {
    Place& place = *place_;
    recipe_.created(place, {}, ticket(7), 100);
    listed(&place, std::move(tickets));
  }
  void listed(Place* asker, std::vector<Ticket> tickets) {
    recipe_.listed(*recipe_.find("key"), asker, {}, std::move(tickets));
    deliver();
  }
  std::vector<std::string> log() { return std::exchange(log_, {}); }
  OutcomeKind outcome() {
    EXPECT_EQ(outcomes_.size(), 1U);
    const OutcomeKind kind = outcomes_.empty() ? OutcomeKind::unknown : outcomes_[0].kind;
    outcomes_.clear();
    return kind;
  }

  using Log = std::vector<std::string>;
  stores::Outbox outbox_;
  QueueRecipe recipe_{*this, outbox_};
  std::vector<std::string> log_;
  std::vector<Outcome> outcomes_;
  std::vector<Notification::Kind> notes_;
  std::size_t watch_size_ = 1;
  Place* place_ = nullptr;
  Line* line_ = nullptr;
};

}  // namespace latchkey::tests

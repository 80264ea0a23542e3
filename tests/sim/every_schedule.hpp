// Every schedule of two clients with a few dropped messages, expired leases, frozen processes and
// recalls of idle holds.
// tidy: long-file because it is one walk through one tree of choices
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "locks/coordinator/idle_hold.hpp"
#include "memory/lock_table.hpp"
#include "testing/simulator/world/process.hpp"
#include "testing/simulator/world/sim_clock.hpp"

namespace latchkey::inline v1::sim {

using std::chrono::milliseconds;

/// Enumerates all paths through a tree of choices, depth first. A run discovers the choices on its
/// own path.
class Choices {
 public:
  std::size_t choose(std::size_t count) {
    if (depth_ == path_.size()) path_.push_back({0, count});
    return path_[depth_++].taken;
  }
  /// Moves on to the next path. False if there is none.
  bool next() {
    depth_ = 0;
    while (!path_.empty() && path_.back().taken + 1 == path_.back().count) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().taken;
    return true;
  }
  [[nodiscard]] std::string text() const {
    std::string text;
    for (const auto& each : path_) text += std::to_string(each.taken) + " ";
    return text;
  }

 private:
  struct Choice {
    std::size_t taken;
    std::size_t count;
  };
  std::vector<Choice> path_;
  std::size_t depth_ = 0;
};

struct Budget {
  LockType type;
  std::size_t drops = 0;  ///< requests and replies together
  std::size_t expiries = 0;
  std::size_t freezes = 0;  ///< of a process, for longer than a lease
  std::size_t pauses = 0;   ///< so long that a renewal of an idle hold is under way
  /// A client keeps what it has released, and acquires it once more.
  bool idle = false;
  bool in_order = false;
};

/// One schedule. Each client acquires, then extends or acquires a READ inside its WRITE, then
/// releases. Or it acquires and releases twice, and keeps idle what it has released: a waiter of
/// the other client is told of by the reply to a request, or by a recall, which may be lost.
class Schedule final : private ProcessHost {
 public:
  Schedule(Choices& choices, Budget budget) : choices_(choices), budget_(budget) {
    for (std::uint32_t number = 0; number < 2; ++number) {
      Client& client = clients_[number];
      client.clock.emplace(truth_, std::chrono::seconds(100) * (number + 1));
      CoordinatorSettings settings;
      settings.watchdog = lease;
      settings.command_timeout = timeout;
      settings.pushes = false;
      settings.in_order = budget.in_order;
      settings.cache = budget.idle ? cache : milliseconds(0);
      settings.space = {1, number};
      client.process.emplace(number, *client.clock, settings, 1, host());
    }
  }

  /// The first violation; empty if there is none.
  std::string run() {
    for (int event = 0; event < 200 && violation_.empty(); ++event) {
      if (!choose_event() && !pass_to_next_due()) break;
    }
    for (const Client& client : clients_) {
      if (client.done < steps_ || client.call) fail("an operation was never answered");
      if (!client.process->idle()) fail("a coordinator is not idle when all is over");
    }
    truth_ += std::chrono::minutes(1);
    Request look;
    look.verb = Verb::verify;
    look.key = "k";
    (void)table_.apply(look, now());
    if (table_.size() != 0) fail("something is left at the store");
    for (Client& client : clients_) clean_up(client);
    return violation_;
  }

 private:
  static constexpr milliseconds lease = std::chrono::seconds(1);
  static constexpr milliseconds timeout = milliseconds(300);
  static constexpr milliseconds cache = milliseconds(400);

  struct Message {
    Request* request;
    bool dropped = false;
    Clock::duration unknown_at{};
  };

  struct Client {
    std::optional<SimClock> clock;
    std::optional<Process> process;
    std::optional<Call> call;
    std::deque<Message> messages;
    std::vector<std::pair<RemoteHold*, LockType>> local_holds;
    int done = 0;
    bool waits = false;        ///< the store said that the lock is busy
    bool may_be_told = false;  ///< a request with Request::recall has asked for it
  };

  ProcessHost& host() noexcept { return *this; }
  [[nodiscard]] Clock::time_point now() const noexcept {
    return Clock::time_point(truth_ + std::chrono::seconds(1'000));
  }
  void fail(std::string what) {
    if (violation_.empty()) violation_ = std::move(what);
  }

  // Starts an operation, delivers or drops a message, or lets a lease expire. False if there is
  // nothing to choose from.
  bool choose_event() {
    enum class Kind { start, deliver, drop_request, drop_reply, recall, freeze, pause, expire };
    std::vector<std::pair<Kind, std::size_t>> events;
    for (std::size_t number = 0; number < clients_.size(); ++number) {
      const Client& client = clients_[number];
      if (!client.call && client.done < steps_) events.emplace_back(Kind::start, number);
      if (client.may_be_told && other_of(client).waits) events.emplace_back(Kind::recall, number);
      if (client.messages.empty() || client.messages.front().dropped) continue;
      events.emplace_back(Kind::deliver, number);
      if (budget_.drops == 0) continue;
      events.emplace_back(Kind::drop_request, number);
      events.emplace_back(Kind::drop_reply, number);
    }
    if (events.empty()) return false;
    if (budget_.expiries > 0) events.emplace_back(Kind::expire, 0);
    if (budget_.pauses > 0) events.emplace_back(Kind::pause, 0);
    if (budget_.freezes > 0) events.emplace_back(Kind::freeze, 0);
    if (budget_.freezes > 0) events.emplace_back(Kind::freeze, 1);
    const auto [kind, number] = events[choices_.choose(events.size())];
    Client& client = clients_[number];
    switch (kind) {
      case Kind::start: start(client); break;
      case Kind::deliver: deliver(client); break;
      case Kind::drop_reply: (void)apply(client, *client.messages.front().request); [[fallthrough]];
      case Kind::drop_request:
        --budget_.drops;
        client.messages.front().dropped = true;
        break;
      case Kind::recall:
        client.may_be_told = false;
        client.process->notified({.kind = Notification::Kind::wanted, .key = "k"});
        check_recalled(client);
        break;
      case Kind::freeze:
        --budget_.freezes;
        pass_to(truth_ + lease, &client);
        break;
      case Kind::pause:
        --budget_.pauses;
        pass_to(truth_ + milliseconds(250));
        break;
      case Kind::expire:
        --budget_.expiries;
        pass_to(truth_ + lease);
        break;
    }
    return true;
  }

  Client& other_of(const Client& client) { return clients_[&client == &clients_[0] ? 1 : 0]; }

  void start(Client& client) {
    Call& call = client.call.emplace();
    call.owner = owners_[client.process->number];
    call.type = budget_.type;
    call.lease = budget_.idle ? 3 * lease : lease;
    call.asked = client.clock->now();
    call.until = call.asked + std::chrono::seconds(3);
    const bool nested = !budget_.idle && budget_.type == LockType::WRITE && client.done == 1;
    if (nested) call.type = LockType::READ;
    const int step = client.done++;
    client.process->handle(client.process->at("k"), [&](Coordinator& one, EventContext& context) {
      if (step == 0 || nested || (budget_.idle && step == 2)) return one.acquire(call, context);
      if (client.local_holds.empty()) return client.call.reset();
      if (step == 1 && !budget_.idle)
        return one.extend(*client.local_holds.front().first, lease, call, context);
      const auto [hold, type] = client.local_holds.front();
      client.local_holds.erase(client.local_holds.begin());
      if (!client.local_holds.empty() && !budget_.idle)
        client.done = 2;  // another release for the nested READ
      one.release(*hold, type, false, Clock::time_point::min(), &call, context);
    });
  }

  Outcome apply(Client& client, const Request& request) {
    Outcome outcome = table_.apply(request, now());
    if (request.verb == Verb::release || request.verb == Verb::leave) check_not_left(request);
    const bool granted = outcome.kind == Outcome::Kind::granted;
    if (request.verb == Verb::acquire) client.waits = outcome.kind == Outcome::Kind::busy;
    if (request.verb == Verb::acquire && granted) check_alone(client, request.type);
    if (request.recall && granted) {
      outcome.wanted = other_of(client).waits;
      client.may_be_told = !outcome.wanted;
    }
    return outcome;
  }

  void check_alone(const Client& client, LockType type) {
    const Client& other = other_of(client);
    for (const auto& [hold, held] : other.local_holds) {
      const bool conflict = !is_shared(type) || !is_shared(held);
      if (conflict && !hold->is_lost(other.clock->now())) fail("two hold at the same time");
    }
  }

  void check_recalled(Client& client) {
    const Coordinator* const its = client.process->find("k");
    const bool keeps = its != nullptr && detail::IdleHold::of(*its) != nullptr;
    if (keeps) fail("an idle hold was kept although another process waited");
  }

  // Taken from the process, without the store.
  void check_grant(const Client& client, const Call& call) {
    if (call.hold->is_lost(client.clock->now())) fail("granted what is lost already");
    check_alone(client, call.type);
    if (call.type != LockType::FENCED) return;
    if (call.hold->token <= last_token_) fail("a token did not rise");
    last_token_ = call.hold->token;
  }

  void check_not_left(const Request& release) {
    Request verify = release;
    verify.verb = Verb::verify;
    for (const LockType type : {LockType::REENTRANT, LockType::READ, LockType::WRITE}) {
      verify.type = type;
      const auto kind = table_.apply(verify, now()).kind;
      if (kind == Outcome::Kind::granted) fail("a release was carried out and left a hold");
    }
  }

  void deliver(Client& client) {
    Request& request = *client.messages.front().request;
    Outcome outcome = apply(client, request);
    client.messages.pop_front();
    const bool wanted = outcome.wanted;
    client.process->completed(request, std::move(outcome));
    if (wanted) check_recalled(client);
  }

  [[nodiscard]] Clock::duration next_due(const Client* frozen = nullptr) {
    Clock::duration at = Clock::duration::max();
    for (Client& client : clients_) {
      if (&client == frozen) continue;
      for (const Message& message : client.messages) at = std::min(at, message.unknown_at);
      Coordinator* const its = client.process->find("k");
      Clock::time_point due = its != nullptr ? its->due() : Clock::never();
      if (client.call) due = std::min(due, client.call->wake_at);
      if (due != Clock::never()) at = std::min(at, client.clock->truth_at(due));
    }
    return std::max(at, truth_);
  }

  bool pass_to_next_due() {
    const Clock::duration at = next_due();
    if (at == Clock::duration::max()) return false;
    pass_to(at);
    return true;
  }

  void pass_to(Clock::duration end, const Client* frozen = nullptr) {
    for (int ticks = 0; next_due(frozen) <= end; ++ticks) {
      if (ticks == 100) return fail("a tick is due again and again");
      truth_ = next_due(frozen);
      for (Client& client : clients_) {
        if (&client == frozen) continue;
        while (!client.messages.empty() && client.messages.front().unknown_at <= truth_) {
          Request& request = *client.messages.front().request;
          client.messages.pop_front();
          client.process->completed(request, Outcome{});
        }
        if (Coordinator* const its = client.process->find("k")) client.process->tick(*its);
      }
    }
    truth_ = end;
  }

  void submitted(Process& process, Request& request) override {
    clients_[process.number].messages.push_back({&request, false, truth_ + timeout});
  }

  void woken(Process& process, Call& call) override {
    Client& client = clients_[process.number];
    if (!client.call || &*client.call != &call) return fail("a call was answered that is over");
    if (call.answer == Answer::pending) return;
    const bool acquires = call.kind == Call::Kind::acquire;
    const bool granted = acquires && call.answer == Answer::granted;
    if (acquires) client.waits = false;
    if (granted) check_grant(client, call);
    if (granted) client.local_holds.emplace_back(call.hold, call.type);
    if (acquires && !granted && client.done == 1) client.done = budget_.idle ? 2 : 3;
    client.call.reset();
  }

  void clean_up(Client& client) {
    for (const auto& [hold, type] : client.local_holds) {
      client.process->abandon("k", *hold, type, false, {});
    }
    if (!client.process->tear_down()) fail("something is left although all was answered");
  }

  Choices& choices_;
  Budget budget_;
  const int steps_ = budget_.idle ? 4 : 3;
  std::uint64_t last_token_ = 0;
  Clock::duration truth_{};
  detail::LockTable table_;
  const std::array<Owner, 2> owners_{Owner::make(), Owner::make()};
  std::array<Client, 2> clients_;
  std::string violation_;
};

/// Those of holds that are kept idle.
inline constexpr std::array idle_budgets{
    Budget{.type = LockType::REENTRANT, .drops = 1, .idle = true},
    Budget{.type = LockType::FENCED, .expiries = 1, .idle = true},
    Budget{.type = LockType::FENCED, .pauses = 1, .idle = true},
    Budget{.type = LockType::WRITE, .freezes = 1, .idle = true},
    Budget{.type = LockType::FENCED, .drops = 1, .idle = true, .in_order = true},
    Budget{.type = LockType::WRITE, .expiries = 1, .idle = true, .in_order = true},
    Budget{.type = LockType::READ, .pauses = 1, .idle = true, .in_order = true},
    Budget{.type = LockType::FENCED, .freezes = 1, .idle = true, .in_order = true}};

}  // namespace latchkey::inline v1::sim

// Runs every schedule of two clients with a few dropped messages and expired leases.
#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "memory/lock_table.hpp"
#include "testing/simulator/world/process.hpp"
#include "testing/simulator/world/sim_clock.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
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
  std::size_t drops;  ///< requests and replies together
  std::size_t expiries;
};

/// One schedule. Each client acquires, then extends or acquires a READ inside its WRITE, then
/// releases.
class Schedule final : private ProcessHost {
 public:
  Schedule(Choices& choices, Budget budget) : choices_(choices), budget_(budget) {
    for (std::uint32_t number = 0; number < 2; ++number) {
      Client& client = clients_[number];
      client.clock.emplace(truth_, 100s * (number + 1));
      CoordinatorSettings settings;
      settings.watchdog = lease;
      settings.command_timeout = timeout;
      settings.pushes = false;
      settings.in_order = false;
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
      if (client.done < 3 || client.call) fail("an operation was never answered");
      if (!client.process->idle()) fail("a coordinator is not idle when all is over");
    }
    truth_ += 1min;
    Request look;
    look.verb = Verb::verify;
    look.key = "k";
    (void)table_.apply(look, now());
    if (table_.size() != 0) fail("something is left at the store");
    for (Client& client : clients_) clean_up(client);
    return violation_;
  }

 private:
  static constexpr milliseconds lease = 1s;
  static constexpr milliseconds timeout = 300ms;

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
  };

  ProcessHost& host() noexcept { return *this; }
  [[nodiscard]] Clock::time_point now() const noexcept {
    return Clock::time_point(truth_ + 1'000s);
  }
  void fail(std::string what) {
    if (violation_.empty()) violation_ = std::move(what);
  }

  // Starts an operation, delivers or drops a message, or lets a lease expire. False if there is
  // nothing to choose from.
  bool choose_event() {
    enum class Kind { start, deliver, drop_request, drop_reply, expire };
    std::vector<std::pair<Kind, std::size_t>> events;
    for (std::size_t number = 0; number < clients_.size(); ++number) {
      const Client& client = clients_[number];
      if (!client.call && client.done < 3) events.emplace_back(Kind::start, number);
      if (client.messages.empty() || client.messages.front().dropped) continue;
      events.emplace_back(Kind::deliver, number);
      if (budget_.drops == 0) continue;
      events.emplace_back(Kind::drop_request, number);
      events.emplace_back(Kind::drop_reply, number);
    }
    if (events.empty()) return false;
    if (budget_.expiries > 0) events.emplace_back(Kind::expire, 0);
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
      case Kind::expire:
        --budget_.expiries;
        pass_to(truth_ + lease);
        break;
    }
    return true;
  }

  void start(Client& client) {
    Call& call = client.call.emplace();
    call.owner = owners_[client.process->number];
    call.type = budget_.type;
    call.lease = lease;
    call.asked = client.clock->now();
    call.until = call.asked + 3s;
    const bool nested = budget_.type == LockType::WRITE && client.done == 1;
    if (nested) call.type = LockType::READ;
    const int step = client.done++;
    client.process->handle(client.process->at("k"), [&](Coordinator& one, EventContext& context) {
      if (step == 0 || nested) return one.acquire(call, context);
      if (client.local_holds.empty()) return client.call.reset();
      if (step == 1) return one.extend(*client.local_holds.front().first, lease, call, context);
      const auto [hold, type] = client.local_holds.front();
      client.local_holds.erase(client.local_holds.begin());
      if (!client.local_holds.empty()) client.done = 2;  // another release for the nested READ
      one.release(*hold, type, false, Clock::time_point::min(), &call, context);
    });
  }

  Outcome apply(Client& client, const Request& request) {
    Outcome outcome = table_.apply(request, now());
    if (request.verb == Verb::release || request.verb == Verb::leave) check_not_left(request);
    const bool granted = outcome.kind == Outcome::Kind::granted && request.verb == Verb::acquire;
    for (const Client& other : clients_) {
      if (&other == &client || !granted) continue;
      for (const auto& [hold, type] : other.local_holds) {
        const bool conflict = !is_shared(type) || !is_shared(request.type);
        if (conflict && !hold->is_lost(other.clock->now())) fail("two hold at the same time");
      }
    }
    return outcome;
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
    client.process->completed(request, std::move(outcome));
  }

  [[nodiscard]] Clock::duration next_due() {
    Clock::duration at = Clock::duration::max();
    for (Client& client : clients_) {
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

  void pass_to(Clock::duration end) {
    for (int ticks = 0; next_due() <= end; ++ticks) {
      if (ticks == 100) return fail("a tick is due again and again");
      truth_ = next_due();
      for (Client& client : clients_) {
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
    const bool granted = call.kind == Call::Kind::acquire && call.answer == Answer::granted;
    if (granted) client.local_holds.emplace_back(call.hold, call.type);
    if (call.kind == Call::Kind::acquire && !granted && client.done == 1) client.done = 3;
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
  Clock::duration truth_{};
  detail::LockTable table_;
  const std::array<Owner, 2> owners_{Owner::make(), Owner::make()};
  std::array<Client, 2> clients_;
  std::string violation_;
};

class Exhaustive : public ::testing::TestWithParam<Budget> {};

TEST_P(Exhaustive, EveryScheduleKeepsThePromises) {
  Choices choices;
  std::uint64_t schedules = 0;
  do {
    ++schedules;
    const std::string violation = Schedule(choices, GetParam()).run();
    ASSERT_EQ(violation, "") << "schedule " << schedules << ": " << choices.text();
  } while (choices.next());
  RecordProperty("schedules", std::to_string(schedules));
  EXPECT_GT(schedules, 1'000U);
}

INSTANTIATE_TEST_SUITE_P(TwoClients, Exhaustive,
                         ::testing::Values(Budget{LockType::REENTRANT, 2, 0},
                                           Budget{LockType::REENTRANT, 1, 1},
                                           Budget{LockType::FAIR, 1, 1},
                                           Budget{LockType::READ, 1, 1},
                                           Budget{LockType::WRITE, 1, 1}),
                         [](const auto& each) {
                           return std::string(to_string(each.param.type)) + "_drops" +
                                  std::to_string(each.param.drops) + "_expiries" +
                                  std::to_string(each.param.expiries);
                         });

}  // namespace
}  // namespace latchkey::sim

// Simulated quorums: messages are delayed, lost and reordered, and servers freeze, or restart
// without their data and stay away for the longest lease.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/quorum.hpp>

#include "locks/coordinator/remote_hold.hpp"
#include "memory/lock_table.hpp"
#include "testing/simulator/world/random.hpp"
#include "testing/simulator/world/sim_clock.hpp"

namespace latchkey::sim {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using Kind = Outcome::Kind;

constexpr milliseconds longest_lease{2'000};
const std::array<std::string, 2> keys{"k", "rw"};
// A WRITE that is not granted closes it to new READs.
const std::string gate = "latchkey_writer:{rw}";

struct SimulatedServer {
  std::unique_ptr<detail::LockTable> table = std::make_unique<detail::LockTable>();
  Clock::duration frozen_until{}, absent_until{};
};

struct Truth {
  explicit Truth(std::uint64_t seed) : random(seed) {}
  Random random;
  Clock::duration now{};
};

/// One client's connection to one server. Messages may overtake each other.
class SimulatedConnection final : public Backend {
 public:
  SimulatedConnection(Truth& truth, SimulatedServer& server) : truth_(truth), server_(server) {}

  [[nodiscard]] Capabilities capabilities() const noexcept override {
    Capabilities offered;
    offered.read_write = true;
    return offered;
  }
  [[nodiscard]] std::string describe() const override { return "simulated"; }

  void submit(std::span<Request* const> requests, Sink& sink) override {
    for (Request* const request : requests) {
      Message& made = messages_.emplace_back();
      made.original = request;
      made.sink = &sink;
      made.copy = *request;
      made.copy.key = request->key == gate ? gate : request->key == keys[0] ? keys[0] : keys[1];
      made.runs_at = truth_.random.percent(5) ? Clock::duration::max() : truth_.now + delay();
      made.ends_at = truth_.now + 400ms;
    }
  }
  void drive(Parker&, Clock::time_point) override {
    for (std::size_t at = 0; at < messages_.size(); ++at) {
      Message& one = messages_[at];
      if (one.original == nullptr || one.ends_at > truth_.now) continue;
      Request& original = *std::exchange(one.original, nullptr);
      one.sink->completed(original, std::exchange(one.outcome, Outcome{}));  // may submit
    }
    std::erase_if(messages_, [&](const Message& one) {
      return one.original == nullptr && (one.ran || one.runs_at == Clock::duration::max());
    });
  }

  /// The server executes the requests that have arrived.
  void run() {
    for (Message& one : messages_) {
      if (one.ran || one.runs_at > truth_.now || server_.frozen_until > truth_.now) continue;
      one.ran = true;
      if (server_.absent_until > truth_.now) continue;
      Outcome outcome = server_.table->apply(one.copy, Clock::time_point(truth_.now + 1'000'000s));
      if (one.original == nullptr || truth_.random.percent(5)) continue;  // the reply is lost
      one.outcome = std::move(outcome);
      one.ends_at = std::min(one.ends_at, truth_.now + delay());
    }
  }

 private:
  struct Message {
    Request* original = nullptr;
    Sink* sink = nullptr;
    Request copy{};
    Outcome outcome{};
    Clock::duration runs_at{}, ends_at{};
    bool ran = false;
  };

  Clock::duration delay() {
    Random& random = truth_.random;
    return random.percent(5) ? random.between(20ms, 1'500ms) : random.between(100us, 15ms);
  }

  Truth& truth_;
  SimulatedServer& server_;
  std::deque<Message> messages_;
};

/// Acquires, renews and releases at random, and trusts every outcome.
class Client final : public Sink {
 public:
  Client(Truth& truth, std::deque<SimulatedServer>& servers, std::uint64_t number)
      : truth_(truth),
        clock_(truth.now, std::chrono::seconds(1'000),
               static_cast<std::int64_t>(truth.random.below(6'000)) - 3'000),
        space_{number, 7} {
    std::vector<std::unique_ptr<Backend>> connections;
    for (SimulatedServer& server : servers) {
      auto connection = std::make_unique<SimulatedConnection>(truth, server);
      connections_.push_back(connection.get());
      connections.push_back(std::move(connection));
    }
    Options options;
    options.clock = &clock_;
    quorum_ = make_quorum(std::move(connections), options);
  }

  void live() {
    for (SimulatedConnection* const each : connections_) each->run();
    for (int look = 0; look < 3; ++look) quorum_->drive(Parker::mine(), clock_.now());
    if (!busy_ && clock_.now() >= next_) act();
  }
  [[nodiscard]] bool holds(std::string_view key) const {
    return deadline_ > clock_.now() && request_.key == key;
  }
  [[nodiscard]] LockType type() const { return request_.type; }
  bool granted_now = false;
  std::uint64_t grants = 0, losses = 0;

 private:
  void act() {
    Random& random = truth_.random;
    const bool held = deadline_ != Clock::time_point{};
    request_.sent = clock_.now();
    if (!held && request_.id.number != 0 && may_hold_) {
      request_.verb = Verb::release;
    } else if (!held) {
      request_ = Request{};
      request_.sent = clock_.now();
      request_.verb = Verb::acquire;
      request_.key = keys[random.below(2)];
      request_.type = request_.key == "k"  ? LockType::REENTRANT
                      : random.percent(50) ? LockType::READ
                                           : LockType::WRITE;
      request_.id = {space_, ++number_};
      request_.lease = random.pick({milliseconds(300), milliseconds(1'000), longest_lease});
      lease_ = request_.lease;
    } else {
      request_.verb = random.pick({Verb::renew, Verb::renew, Verb::verify, Verb::release});
      request_.lease = request_.verb == Verb::renew ? lease_ : milliseconds(0);
      if (request_.verb == Verb::release) deadline_ = {};
    }
    busy_ = true;
    Request* const one[] = {&request_};
    quorum_->submit(one, *this);
  }

  void completed(Request&, Outcome&& outcome) noexcept override {
    busy_ = false;
    next_ = clock_.now() + truth_.random.between(1ms, 200ms);
    const bool granted = outcome.kind == Kind::granted;
    const Clock::time_point until = detail::end_of_lease(request_.sent, lease_);
    switch (request_.verb) {
      case Verb::acquire:
        may_hold_ = granted || outcome.kind == Kind::unknown;
        if (granted && until > clock_.now()) {
          deadline_ = until;
          granted_now = true;
          ++grants;
        }
        return;
      case Verb::release:
        may_hold_ = outcome.kind == Kind::unknown && truth_.random.percent(70);
        return;
      default:
        if (outcome.kind == Kind::gone || deadline_ <= clock_.now()) {
          ++losses;
          deadline_ = {};
          may_hold_ = outcome.kind != Kind::gone;
        } else if (granted && request_.verb == Verb::renew) {
          deadline_ = std::max(deadline_, until);
        }
    }
  }
  void notified(const Notification&) noexcept override {}

  Truth& truth_;
  SimClock clock_;
  const std::array<std::uint64_t, 2> space_;
  std::vector<SimulatedConnection*> connections_;
  std::unique_ptr<Backend> quorum_;
  Request request_{};
  bool busy_ = false, may_hold_ = false;
  std::uint64_t number_ = 0;
  milliseconds lease_{};
  Clock::time_point deadline_{}, next_{};
};

struct Result {
  std::string violation;
  std::uint64_t grants = 0, losses = 0;
};

void disturb(Truth& truth, std::deque<SimulatedServer>& servers, Clock::duration absence) {
  SimulatedServer& one = servers[truth.random.below(servers.size())];
  if (truth.random.percent(60)) {
    one.frozen_until = truth.now + truth.random.between(10ms, 2'000ms);
    return;
  }
  one.table = std::make_unique<detail::LockTable>();
  one.absent_until = truth.now + absence;
}

/// `absence`: how long a server that restarts without its data stays away.
Result run(std::uint64_t seed, Clock::duration absence) {
  Truth truth(seed);
  std::deque<SimulatedServer> servers(truth.random.pick({3U, 5U}));
  std::deque<Client> clients;
  for (std::uint64_t number = 1; number <= 3; ++number)
    clients.emplace_back(truth, servers, number);
  Result result;
  for (int step = 0; step < 6'000 && result.violation.empty(); ++step) {
    truth.now += 2ms;
    if (truth.random.below(400) == 0) disturb(truth, servers, absence);
    for (Client& client : clients) {
      client.live();
      if (!std::exchange(client.granted_now, false)) continue;
      for (const Client& other : clients) {
        const bool shared = is_shared(client.type()) && is_shared(other.type());
        for (const std::string& key : keys) {
          if (&other == &client || shared || !client.holds(key) || !other.holds(key)) continue;
          result.violation = "two hold " + key + " after " + std::to_string(step) + " steps";
        }
      }
    }
  }
  for (const Client& client : clients) {
    result.grants += client.grants;
    result.losses += client.losses;
  }
  return result;
}

TEST(QuorumSimulation, AbsentServersNeverAllowTwoHolders) {
  std::uint64_t grants = 0, losses = 0;
  constexpr std::uint64_t seeds = 60;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const Result result = run(seed, longest_lease);
    ASSERT_EQ(result.violation, "") << "seed " << seed;
    grants += result.grants;
    losses += result.losses;
  }
  EXPECT_GT(grants, 20 * seeds);
  EXPECT_GT(losses, seeds);
}

// The control: without the absence the guarantee does not hold.
TEST(QuorumSimulation, ServerThatForgetsAndReturnsAtOnceAllowsTwoHolders) {
  std::uint64_t seed = 1;
  while (seed <= 200 && run(seed, 0ms).violation.empty()) ++seed;
  EXPECT_LE(seed, 200U);
}

}  // namespace
}  // namespace latchkey::sim

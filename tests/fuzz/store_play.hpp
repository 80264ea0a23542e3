// The client of a store and its server, in one play: requests, time, lost memory.
#pragma once

#include <poll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <new>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <latchkey/testing/manual_clock.hpp>

#include "fuzz/moves.hpp"
#include "fuzz/session_requests.hpp"
#include "stores/driver/store_client.hpp"

namespace latchkey::fuzz {

/// Does what a DrivenBackend does, in one thread, with a clock of its own.
class StorePlay {
 public:
  using Work = std::function<bool()>;

  /// `work`: the server reads and writes; false: it had nothing to do. `verbs`: of the requests.
  StorePlay(Moves& moves, testing::ManualClock& clock, detail::stores::StoreClient& client,
            std::chrono::milliseconds timeout, std::span<const Verb> verbs, Work work)
      : moves_(moves),
        clock_(clock),
        client_(client),
        timeout_(timeout),
        verbs_(verbs),
        work_(std::move(work)) {}

  void move() {
    switch (moves_.below(8)) {
      case 0:
      case 1:
      case 2: submit(1 + moves_.below(4)); break;
      case 3: clock_.advance(std::chrono::milliseconds(moves_.below(256) * 8)); break;
      case 4: start_over(); break;
      default: break;
    }
    settle();
  }

  /// Passes the time until every request must have ended.
  void end() {
    for (int steps = 0; steps < 8; ++steps) {
      clock_.advance(timeout_);
      settle();
    }
    for (const Asked& each : asked_) require(each.ends == 1);
    fork();
  }

  /// Until neither side has anything to do.
  void settle() {
    for (int rounds = 0; rounds < 64; ++rounds) {
      const bool served = work_();
      try {
        client_.advance(clock_.now());
      } catch (const std::bad_alloc&) {
        start_over();
      }
      client_.descriptors().forget_events();
      if (!deliver() && !served && !is_readable()) break;
    }
    const auto* const failure = client_.failure();
    require(failure == nullptr || !failure->text.empty());
    const bool failed = client_.start_state() == detail::stores::StoreClient::Start::failed;
    require(!failed || failure != nullptr);
    static_cast<void>(client_.due());
  }

 private:
  /// In a forked child the requests under way belong to the parent, and the client begins anew.
  void fork() {
    const std::size_t before = asked_.size();
    submit(2);
    client_.abandon();
    for (std::size_t at = before; at < asked_.size(); ++at) require(asked_[at].ends <= 1);
    require(client_.start_state() != detail::stores::StoreClient::Start::up);
  }

  void submit(std::size_t count) {
    std::vector<Request*> requests;
    for (; count > 0; --count) requests.push_back(&ask());
    client_.outbox().know(sink_);
    client_.outbox().begin(requests, sink_);
    client_.submit(requests, sink_);
    client_.send(clock_.now());
  }

  Asked& ask() {
    using namespace std::chrono_literals;
    static constexpr std::array<std::string_view, 4> keys{"a", "b", "{a}b", "c"};
    Asked& made = asked_.emplace_back();
    made.verb = verbs_[moves_.below(verbs_.size())];
    made.key = keys[moves_.below(keys.size())];
    made.type = static_cast<LockType>(moves_.below(6));
    made.id = {{1, 2}, 1 + moves_.below(3)};
    made.lease = 30s;
    const std::size_t more = moves_.below(256);
    made.queue_wait = more % 2 * 1000ms;
    made.watch = more % 4 > 1;
    made.fenced = more % 8 > 3 && client_.capabilities().tokens &&
                  (made.type == LockType::WRITE || made.type == LockType::FAIR);
    made.in_line = more % 16 > 7;
    static constexpr std::array<std::string_view, 4> notes{"", "n", "\xC3\xA9\xE2\x82\xAC",
                                                           "\xF0\x9F\x94\x92\xFF"};
    made.note = notes[more / 16 % notes.size()];
    made.permits = {.taken = 1, .total = 2};
    made.sent = clock_.now();
    made.info = &made.found;
    made.names = &made.listed;
    if (made.verb == Verb::acquire_all) {
      made.type = LockType::REENTRANT;
      made.both = {Member{.key = "a", .id = made.id}, Member{.key = "b", .id = made.id}};
      made.members = made.both;
    }
    if (made.verb == Verb::list && moves_.below(2) == 0) {
      made.part = &made.page;
      made.page.awaited = moves_.below(2) == 0;
    }
    return made;
  }

  void start_over() {
    client_.start_over(clock_.now());
    client_.outbox().lose_all();
  }
  [[nodiscard]] bool is_readable() {
    pollfd events{.fd = client_.descriptors().descriptor(), .events = POLLIN, .revents = 0};
    return ::poll(&events, 1, 0) == 1;
  }
  bool deliver() {
    std::array<detail::stores::Delivery, 8> some;
    const std::size_t count = client_.outbox().take(some);
    for (std::size_t each = 0; each < count; ++each) some[each].hand_over();
    return count > 0;
  }

  Moves& moves_;
  testing::ManualClock& clock_;
  detail::stores::StoreClient& client_;
  const std::chrono::milliseconds timeout_;
  const std::span<const Verb> verbs_;
  const Work work_;
  Ends sink_;
  std::deque<Asked> asked_;
};

}  // namespace latchkey::fuzz

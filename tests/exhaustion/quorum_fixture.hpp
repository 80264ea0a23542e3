// A quorum of three servers that answer when the test says so, without memory when it says so.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include <latchkey/backend.hpp>
#include <latchkey/testing/manual_clock.hpp>

#include "exhaustion/scarce_memory.hpp"
#include "quorum/quorum_backend.hpp"
#include "unit/quorum/answering_server.hpp"

namespace latchkey::detail::quorum {

/// More than what is tried here allocates.
inline constexpr std::size_t most_allocations_of_quorum = 60;

struct CountingSink final : Sink {
  void completed(Request& /*request*/, Outcome&& outcome) noexcept override {
    ++outcomes;
    kind = outcome.kind;
  }
  void notified(const Notification& /*notification*/) noexcept override {}
  int outcomes = 0;
  Outcome::Kind kind = Outcome::Kind::unknown;
};

class QuorumWithoutMemory : public ::testing::Test {
 protected:
  using Kind = Outcome::Kind;

  QuorumWithoutMemory() {
    for (AnsweringServer* const server : servers_) server->reserve(16);
  }
  ~QuorumWithoutMemory() override { static_cast<void>(tests::allocation_failed()); }

  void prepare(Verb verb, LockType type = LockType::REENTRANT) {
    request_ = {};
    request_.verb = verb;
    request_.type = type;
    request_.key = "a key that is so long that it does not fit into the string itself";
    request_.id = {{1, 2}, 3};
    request_.lease = std::chrono::seconds(30);
  }
  void submit(Verb verb, LockType type = LockType::REENTRANT) {
    prepare(verb, type);
    Request* const one[] = {&request_};
    quorum_->submit(one, sink_);
  }
  /// Calls `submit`, whose nth allocation fails, for n from 1 until none fails. Returns how often
  /// it has thrown. Nothing is sent then.
  template <class Submit>
  std::size_t until_it_does_not_throw(Submit&& submit) {
    for (std::size_t failures = 0; failures < most_allocations_of_quorum; ++failures) {
      tests::fail_allocation(failures + 1);
      try {
        submit();
        EXPECT_FALSE(tests::allocation_failed());
        return failures;
      } catch (const std::bad_alloc&) {
        for (std::size_t server = 0; server < servers_.size(); ++server) {
          EXPECT_TRUE(unanswered(server).empty()) << "allocation " << failures + 1;
        }
      }
    }
    ADD_FAILURE() << "it always throws";
    return 0;
  }
  void replies(std::size_t server, Verb verb, Kind kind) { servers_[server]->reply(verb, kind); }
  /// Replies without any memory, which a reply must not need.
  void replies_without_memory(std::size_t server, Verb verb, Kind kind) {
    tests::fail_allocation(1);
    replies(server, verb, kind);
    EXPECT_FALSE(tests::allocation_failed()) << to_string(verb) << " at server " << server;
  }
  void all_reply(Verb verb, Kind kind) {
    for (std::size_t server = 0; server < servers_.size(); ++server) replies(server, verb, kind);
  }
  void hold(LockType type = LockType::REENTRANT) {
    submit(Verb::acquire, type);
    all_reply(Verb::acquire, Kind::granted);
  }
  void drive() { quorum_->drive(Parker::mine(), clock_.now()); }
  void pass(testing::ManualClock::duration time) {
    clock_.advance(time);
    drive();
  }
  void expect_one_outcome(Kind kind) {
    EXPECT_EQ(sink_.outcomes, 1);
    EXPECT_EQ(sink_.kind, kind);
    sink_ = {};
  }
  [[nodiscard]] std::vector<Verb> unanswered(std::size_t server) const {
    return servers_[server]->unanswered();
  }

  testing::ManualClock clock_;
  std::array<AnsweringServer*, 3> servers_{};
  CountingSink sink_;
  Request request_;
  std::unique_ptr<QuorumBackend> quorum_ = quorum_of(servers_, clock_);
};

}  // namespace latchkey::detail::quorum

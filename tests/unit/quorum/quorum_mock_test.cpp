// The requests that a quorum sends to each of its servers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/quorum.hpp>
#include <latchkey/testing/mock_backend.hpp>

namespace latchkey {
namespace {

using namespace std::chrono_literals;
using latchkey::testing::MockBackend;
using ::testing::_;
using ::testing::NiceMock;
using ::testing::Return;

class QuorumOfMocks : public ::testing::Test {
 protected:
  QuorumOfMocks() {
    std::vector<std::unique_ptr<Backend>> all;
    for (NiceMock<MockBackend>*& server : servers_) {
      auto made = std::make_unique<NiceMock<MockBackend>>();
      server = made.get();
      all.push_back(std::move(made));
    }
    locks_.emplace(make_quorum(std::move(all)));
  }

  /// Makes the server reply `answer` to an acquire, and stores the id of the acquire.
  void on_acquire(std::size_t server, Outcome answer, HoldId& id) {
    // A server whose reply is not needed may get the request later, or never.
    EXPECT_CALL(*servers_[server], acquire(_))
        .Times(::testing::AtMost(1))
        .WillOnce([&id, answer](const Request& request) {
          id = request.id;
          return answer;
        });
  }

  std::array<NiceMock<MockBackend>*, 3> servers_{};
  std::optional<Locks> locks_;
};

TEST_F(QuorumOfMocks, AFailedAttemptIsReleasedWhereverItMayHoldAndItsIdIsNotReused) {
  std::array<HoldId, 3> first{}, second{};
  on_acquire(0, MockBackend::granted(), first[0]);
  on_acquire(1, MockBackend::unknown("the line is dead"), first[1]);
  on_acquire(2, MockBackend::busy(), first[2]);
  std::array<bool, 3> given_back{};
  for (std::size_t server = 0; server < 3; ++server) {
    EXPECT_CALL(*servers_[server], release(_))
        .Times(::testing::AnyNumber())
        .WillRepeatedly([&, server](const Request& request) {
          given_back[server] = given_back[server] || request.id == first[server];
          return MockBackend::granted();
        });
  }
  EXPECT_FALSE(locks_->lock("k").try_acquire(0ms, 30s));
  for (std::size_t server = 0; server < 3; ++server)
    on_acquire(server, MockBackend::granted(), second[server]);
  for (NiceMock<MockBackend>* const server : servers_) {
    EXPECT_CALL(*server, verify(_)).Times(::testing::AnyNumber());
  }
  EXPECT_TRUE(locks_->lock("k").try_acquire(0ms, 30s));
  // A server that the majority did not need may get requests until the end, so the variables that
  // the mocks write to must outlive the locks.
  locks_->close(1s);
  locks_.reset();
  EXPECT_TRUE(given_back[0]);
  EXPECT_TRUE(given_back[1]) << "nobody knows whether it was granted";
  EXPECT_FALSE(given_back[2]) << "it was busy";
  for (const std::size_t server : {0U, 1U}) {
    EXPECT_FALSE(second[server] == first[server]) << server;
  }
}

TEST_F(QuorumOfMocks, ARefusalByAMajorityIsRefused) {
  for (const std::size_t server : {0U, 2U}) {
    // Answers that come late do not count, so an attempt may be repeated.
    EXPECT_CALL(*servers_[server], acquire(_))
        .Times(::testing::AtLeast(1))
        .WillRepeatedly(Return(MockBackend::refused("not allowed")));
  }
  try {
    static_cast<void>(locks_->lock("k").acquire(20s, 30s));
    FAIL() << "two of three refuse";
  } catch (const BackendRefused& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("mock: refuses (not allowed)"));
  }
}

TEST_F(QuorumOfMocks, AnExceptionOfOneServerAffectsNoOther) {
  EXPECT_CALL(*servers_[1], acquire(_))
      .WillOnce(::testing::Throw(std::runtime_error("the disk is full")))
      .WillRepeatedly(Return(MockBackend::granted()));  // it gets the request again
  EXPECT_CALL(*servers_[1], renew(_)).WillOnce(Return(MockBackend::gone()));
  Hold hold = locks_->lock("k").acquire(0ms, 30s);
  EXPECT_TRUE(hold.extend(60s));
  EXPECT_TRUE(hold.release());
}

}  // namespace
}  // namespace latchkey

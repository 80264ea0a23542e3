// The backend contract of latches: counts, and who is notified of them.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <latchkey/detail/testing/contract/fixture.hpp>

namespace latchkey::inline v1::testing::contract {

template <class Store>
class BackendLatches : public Contract<Store> {
 protected:
  Outcome set(Probe& probe, std::uint32_t count) {
    Request request = about(Verb::latch_set);
    request.tokens = count;
    return probe.send(request);
  }
  Outcome send(Probe& probe, Verb verb) { return probe.send(about(verb)); }
  Outcome subscribe(Probe& probe, Verb verb = Verb::subscribe) {
    Request request = about(verb);
    request.latch = true;
    return probe.send(request);
  }
  /// How many notifications of the latch have arrived; waits for the first one.
  std::size_t notes(Probe& probe, milliseconds patience = std::chrono::seconds(10)) {
    std::size_t count = 0;
    for (const Probe::Note& note : probe.notes(patience)) {
      EXPECT_EQ(note.kind, Notification::Kind::counted);
      EXPECT_EQ(note.key, this->name);
      ++count;
    }
    return count;
  }

 private:
  Request about(Verb verb) {
    Request request;
    request.verb = verb;
    request.key = this->name;
    return request;
  }
};
TYPED_TEST_SUITE_P(BackendLatches);

TYPED_TEST_P(BackendLatches, CountDownToZeroAndNoFurther) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().latches, "latches");
  EXPECT_EQ(this->send(one, Verb::latch_count).token, 0U);
  EXPECT_EQ(this->set(one, 2).kind, Kind::granted);
  EXPECT_EQ(this->send(other, Verb::latch_count).token, 2U);
  EXPECT_EQ(this->send(other, Verb::latch_down).token, 1U);
  EXPECT_EQ(this->send(one, Verb::latch_down).token, 0U);
  for (int further = 0; further < 2; ++further) {
    const Outcome none = this->send(one, Verb::latch_down);
    EXPECT_EQ(none.kind, Kind::granted);
    EXPECT_EQ(none.token, 0U);
  }
  EXPECT_EQ(this->set(other, 1).kind, Kind::granted) << "it can be used again";
  EXPECT_EQ(this->send(one, Verb::latch_delete).kind, Kind::granted);
}

TYPED_TEST_P(BackendLatches, ACountIsGivenOnce) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().latches, "latches");
  EXPECT_EQ(this->set(one, 3).kind, Kind::granted);
  EXPECT_EQ(this->set(other, 5).kind, Kind::gone);
  EXPECT_EQ(this->send(one, Verb::latch_count).token, 3U);
  EXPECT_EQ(this->send(other, Verb::latch_delete).kind, Kind::granted);
  EXPECT_EQ(this->send(other, Verb::latch_delete).kind, Kind::gone);
  EXPECT_EQ(this->send(one, Verb::latch_count).token, 0U);
}

TYPED_TEST_P(BackendLatches, SubscribersLearnOfZeroOfANewCountAndOfTheEnd) {
  Probe one = this->connect(), other = this->connect();
  LATCHKEY_DETAIL_OFFERED(one.offers().latches && one.offers().pushes, "latches, notifications");
  EXPECT_EQ(this->subscribe(one).kind, Kind::granted);
  EXPECT_EQ(this->set(other, 2).kind, Kind::granted);
  EXPECT_EQ(this->notes(one), 1U);
  EXPECT_EQ(this->send(other, Verb::latch_down).token, 1U);
  EXPECT_EQ(this->send(other, Verb::latch_down).token, 0U);
  EXPECT_EQ(this->notes(one), 1U) << "of zero only";
  EXPECT_EQ(this->set(other, 2).kind, Kind::granted);
  EXPECT_EQ(this->notes(one), 1U);
  EXPECT_EQ(this->send(other, Verb::latch_delete).kind, Kind::granted);
  EXPECT_EQ(this->notes(one), 1U);
  EXPECT_EQ(this->subscribe(one, Verb::unsubscribe).kind, Kind::granted);
  EXPECT_EQ(this->set(other, 1).kind, Kind::granted);
  EXPECT_EQ(this->notes(one, milliseconds(0)), 0U);
  EXPECT_EQ(this->send(other, Verb::latch_delete).kind, Kind::granted);
}

REGISTER_TYPED_TEST_SUITE_P(BackendLatches, CountDownToZeroAndNoFurther, ACountIsGivenOnce,
                            SubscribersLearnOfZeroOfANewCountAndOfTheEnd);

}  // namespace latchkey::inline v1::testing::contract

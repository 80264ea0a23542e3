// The snippets of docs/annotations.md, "After an error".
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include <latchkey/decorate.hpp>
#include <latchkey/error.hpp>
#include <latchkey/testing/scoped_locks.hpp>

#include "support/failing_backend.hpp"

namespace latchkey {
namespace {

struct Payment {
  int id;
};
using Receipt = std::string;

int charges = 0;
tests::Faults faults;

Receipt charge(const Payment& payment) {
  ++charges;
  faults.silent = true;  // the server dies meanwhile
  return "paid " + std::to_string(payment.id);
}

Receipt pay(const Payment& payment) {
  return LOCKED("payment:{payment.id}") AROUND(payment) { return charge(payment); };
}

// clang-format off: the page's own lines
Receipt pay_with_retries(const Payment& payment) {
  for (int attempt = 1;; ++attempt) {
    try {
      return pay(payment);
    } catch (const latchkey::Error& error) {
      if (error.body_ran() || attempt == 3) throw;
    }
  }
}

Receipt pay_and_tell(const Payment& payment) {
  return LOCKED("payment:{payment.id}")
      .on_unconfirmed_release(latchkey::strategy::raise) AROUND(payment) {
    return charge(payment);
  };
}
// clang-format on

class AfterAnErrorPage : public ::testing::Test {
 protected:
  AfterAnErrorPage() {
    charges = 0;
    faults.silent = false;
  }
  Locks locks_{std::make_unique<tests::FailingBackend>(faults),
               {.unavailable_after = std::chrono::milliseconds(100)}};
  latchkey::testing::ScopedLocks scoped_{locks_};
};

TEST_F(AfterAnErrorPage, PaymentThatWasMadeIsMadeOnceAndGivesItsReceipt) {
  EXPECT_EQ(pay_with_retries({1}), "paid 1");
  EXPECT_EQ(charges, 1);
  faults.silent = false;
}

TEST_F(AfterAnErrorPage, CallWhoseBodyDidNotRunIsRepeated) {
  faults.silent = true;
  EXPECT_THROW(pay_with_retries({2}), BackendUnavailable);
  EXPECT_EQ(charges, 0);
  faults.silent = false;
}

TEST_F(AfterAnErrorPage, CallerThatWantsToKnowGetsAnErrorThatSaysThatTheBodyRan) {
  try {
    pay_and_tell({3});
    FAIL();
  } catch (const ReleaseUnconfirmed& error) {
    EXPECT_TRUE(error.body_ran());
  }
  EXPECT_EQ(charges, 1);
  faults.silent = false;
}

}  // namespace
}  // namespace latchkey

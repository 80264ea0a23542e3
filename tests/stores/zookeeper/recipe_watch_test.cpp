// Events of watched entries, without a store.
#include <gtest/gtest.h>

#include <chrono>

#include "recipe_fixture.hpp"

namespace latchkey::tests {
namespace {

// Curator's Revoker writes into the entry of a holder, which still holds the lock.
TEST_F(RecipeTest, APredecessorThatIsWrittenToIsStillThereAndWatchedAgain) {
  Request acquire = request(Verb::acquire);
  acquire.queues = true;
  submit(acquire);
  made({ticket(3), ticket(7)});
  EXPECT_EQ(log(), (Log{"create", "watch 3"}));
  recipe_.changed(*recipe_.find("key"), "3");
  EXPECT_EQ(log(), Log{"list"});
  listed(nullptr, {ticket(3), ticket(7)});
  EXPECT_EQ(log(), Log{"watch 3"});
  EXPECT_TRUE(notes_.empty());
}

}  // namespace
}  // namespace latchkey::tests

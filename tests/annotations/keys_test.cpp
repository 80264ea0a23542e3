// Keys by C++26 reflection: the bytes of C++20's, and what only reflection can name.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include <latchkey/error.hpp>
#include <latchkey/key.hpp>

#include "annotations/keys.hpp"

namespace {

TEST(ReflectionKeys, AreThoseOfTheMacrosByteForByte) {
  const Rendered expected = keys_by_macros();
  const Rendered actual = keys_by_reflection();
  ASSERT_GE(expected.size(), 29U);
  ASSERT_EQ(expected.size(), actual.size());
  for (std::size_t each = 0; each < expected.size(); ++each) {
    EXPECT_EQ(expected[each].first, actual[each].first);
    EXPECT_EQ(expected[each].second, actual[each].second) << expected[each].first;
  }
}

enum class State { open = 1, closed };

class Order {
 public:
  explicit Order(int& owner) : owner_(owner) {}
  [[nodiscard]] auto doubled() const { return id_ * 2; }
  State state = State::closed;

 private:
  int id_ = 21;
  unsigned flags_ : 3 = 5;
  int& owner_;
};

template <latchkey::FixedString Key>
std::string key_of(const Order& order) {
  latchkey::KeyBuffer out;
  latchkey::Key<Key>::template render<"order">(out, order);
  return std::string(out.view());
}

TEST(ReflectionKeys, NamePrivateMembersBitFieldsReferencesAndGetters) {
  int owner = 7;
  const Order order(owner);
  EXPECT_EQ(key_of<"{order.id_}">(order), "21");
  EXPECT_EQ(key_of<"{order.flags_}">(order), "5");
  EXPECT_EQ(key_of<"{order.owner_}">(order), "7");
  EXPECT_EQ(key_of<"{order.doubled}">(order), "42");
}

TEST(ReflectionKeys, NameEnumeratorsIfAsked) {
  int owner = 7;
  Order order(owner);
  EXPECT_EQ(key_of<"{order.state}">(order), "2");
  EXPECT_EQ(key_of<"{order.state.name}">(order), "closed");
  EXPECT_EQ(key_of<"{upper(order.state.name)}">(order), "CLOSED");
  order.state = static_cast<State>(9);
  EXPECT_THROW(key_of<"{order.state.name}">(order), latchkey::KeyError);
  EXPECT_EQ(key_of<"{order.state.name ?: 'other'}">(order), "other");
}

}  // namespace

// Waits, leases, ids, owners and lock types.
#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>

#include <latchkey/hold_id.hpp>
#include <latchkey/lease.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/owner.hpp>
#include <latchkey/wait.hpp>

namespace latchkey {
namespace {

using namespace std::chrono_literals;

static_assert(!std::is_convertible_v<int, Wait> && !std::is_constructible_v<Wait, int>);
static_assert(!std::is_convertible_v<int, Lease> && !std::is_constructible_v<Lease, int>);
static_assert(Wait(3s).length() == 3'000ms && Lease(30s).length(1s) == 30'000ms);

TEST(Wait, IsClampedAndRoundedUp) {
  EXPECT_EQ(Wait(-5s).length(), 0ms);
  EXPECT_EQ(Wait(0s).length(), 0ms);
  EXPECT_EQ(Wait(1us).length(), 1ms);
  EXPECT_EQ(Wait(1'500us).length(), 2ms);
  EXPECT_TRUE(Wait(forever).is_forever());
  EXPECT_TRUE(Wait(std::chrono::hours::max()).is_forever()) << "no overflow";
  EXPECT_FALSE(Wait(std::chrono::years(100)).is_forever());
  EXPECT_EQ(Wait(std::chrono::duration<double>(0.25)).length(), 250ms);
}

TEST(Lease, IsCheckedAndRoundedUp) {
  EXPECT_EQ(Lease(10'001us).length(1s), 11ms);
  EXPECT_TRUE(Lease(watchdog).is_watchdog());
  EXPECT_EQ(Lease(watchdog).length(30s), 30s);
  EXPECT_FALSE(Lease(1s).is_watchdog());
  EXPECT_THROW(Lease(9ms), std::invalid_argument);
  EXPECT_THROW(Lease(0s), std::invalid_argument);
  EXPECT_THROW(Lease(-1s), std::invalid_argument);
  EXPECT_THROW(Lease(std::chrono::years(11)), std::invalid_argument);
  EXPECT_NO_THROW(Lease(std::chrono::hours(24 * 3'650)));
  try {
    static_cast<void>(Lease(0s));
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("latchkey::watchdog"), std::string::npos);
  }
}

TEST(HoldId, HasRedissonsShape) {
  const HoldId id{{0x0123456789abcdef, 0xfedcba9876543210}, 18'446'744'073'709'551'615U};
  EXPECT_EQ(id.text(), "01234567-89ab-cdef-fedc-ba9876543210:18446744073709551615");
}

TEST(HoldId, ParsesExactlyItsOwnText) {
  const HoldId id{{0x0123456789abcdef, 0xfedcba9876543210}, 18'446'744'073'709'551'615U};
  EXPECT_EQ(HoldId::parse(id.text()), id);
  const std::string uuid = "01234567-89ab-cdef-fedc-ba9876543210";
  EXPECT_EQ(HoldId::parse(uuid + ":0"), (HoldId{{id.space}, 0}));
  for (const std::string& wrong :
       {std::string(), std::string("me"), uuid, uuid + ":", uuid + ":x", uuid + ":-1", uuid + ":01",
        uuid + ":1 ", uuid + "1:1", "0" + uuid + ":1", uuid + ";1", uuid + ":18446744073709551616",
        std::string("0123456789ab-cdef-fedc-ba9876543210-1234:1"),
        std::string("01234567-89AB-cdef-fedc-ba9876543210:1")}) {
    EXPECT_EQ(HoldId::parse(wrong), std::nullopt) << wrong;
  }
}

TEST(HoldId, SpacesAreRandomUuidsOfVersion8) {
  std::set<std::string> seen;
  for (int round = 0; round < 100; ++round) {
    const std::string text = HoldId{HoldId::new_space(), 1}.text();
    EXPECT_EQ(text.size(), 38U);
    EXPECT_EQ(text[14], '8') << text;
    EXPECT_NE(std::string("89ab").find(text[19]), std::string::npos) << text;
    EXPECT_TRUE(seen.insert(text).second);
  }
}

TEST(Owner, OfAThreadIsConstantAndNeverReused) {
  EXPECT_EQ(Owner::this_thread(), Owner::this_thread());
  std::set<Owner> seen{Owner::this_thread()};
  for (int round = 0; round < 200; ++round) {
    EXPECT_TRUE(seen.insert(Owner::make()).second);
    std::thread([&] { EXPECT_TRUE(seen.insert(Owner::this_thread()).second); }).join();
  }
}

TEST(LockType, NamesAreItsEnumeratorsInCapitals) {
  for (const LockType type :
       {LockType::REENTRANT, LockType::FAIR, LockType::READ, LockType::WRITE, LockType::FENCED}) {
    EXPECT_EQ(parse_lock_type(to_string(type)), type);
    EXPECT_EQ(is_shared(type), type == LockType::READ);
  }
  EXPECT_EQ(to_string(LockType::FENCED), "FENCED");
  EXPECT_EQ(parse_lock_type("read"), std::nullopt);
  EXPECT_EQ(parse_lock_type(""), std::nullopt);
}

}  // namespace
}  // namespace latchkey

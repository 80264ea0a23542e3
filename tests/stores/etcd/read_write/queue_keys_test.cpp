// The names of the keys of a lock, and who waits for whom: every queue of up to seven places.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stores/etcd/queue_keys.hpp"

namespace latchkey::tests {
namespace {

using detail::etcd::excluding;
using detail::etcd::holding;
using detail::etcd::is_of_another_lock;
using detail::etcd::key_of;
using detail::etcd::KeyKind;
using detail::etcd::KeyRange;
using detail::etcd::KeyValue;
using detail::etcd::kind_of;
using detail::etcd::last_created;
using detail::etcd::lock_of;
using detail::etcd::RangeReply;

const std::string directory = "locks/a/";
constexpr std::array kinds{KeyKind::plain, KeyKind::read, KeyKind::write};

KeyValue key(KeyKind kind, std::int64_t revision) {
  const std::int64_t lease = 0x694d'0000'0000'0000 + revision;
  return {key_of(kind, directory, lease), {}, revision, lease};
}
KeyKind kind_in(const KeyValue& key) { return kind_of(key.key, directory); }
bool exclude(KeyKind one, KeyKind other) { return one != KeyKind::read || other != KeyKind::read; }

/// The keys of one lock in the order of their creation, and how etcd answers about them.
using Queue = std::vector<KeyValue>;

/// The key that a place waits for, by the ranges that are read for it.
const KeyValue* predecessor(const Queue& queue, const KeyValue& own) {
  static std::vector<RangeReply> replies;
  replies.clear();
  for (const KeyRange& range : excluding(kind_in(own), directory)) {
    RangeReply& reply = replies.emplace_back();
    for (const KeyValue& each : queue) {
      const bool before = each.create_revision < own.create_revision;
      if (before && each.key >= range.begin && each.key < range.end) reply.found = {each};
    }
  }
  return last_created(replies);
}

/// The key that Go's RWMutex waits for, as rwmutex.go says it.
const KeyValue* predecessor_in_go(const Queue& queue, const KeyValue& own) {
  const std::string prefix = directory + (kind_in(own) == KeyKind::read ? "write" : "");
  const KeyValue* last = nullptr;
  for (const KeyValue& each : queue) {
    const bool before = each.create_revision < own.create_revision;
    if (before && each.key.starts_with(prefix)) last = &each;
  }
  return last;
}

Queue without(const Queue& queue, std::size_t index) {
  Queue rest = queue;
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(index));
  return rest;
}

/// Calls `check` for each queue of one to seven places.
void for_each_queue(const std::function<void(const Queue&)>& check) {
  const std::function<void(Queue&)> extend = [&](Queue& queue) {
    if (!queue.empty()) check(queue);
    if (queue.size() == 7) return;
    for (const KeyKind kind : kinds) {
      queue.push_back(key(kind, 10 * static_cast<std::int64_t>(queue.size() + 1)));
      extend(queue);
      queue.pop_back();
    }
  };
  Queue queue;
  extend(queue);
}

TEST(EtcdQueueKeys, TheKeysHaveTheNamesOfGosRecipes) {
  constexpr std::int64_t lease = 0x694d'9c3e'5a1b'2c03;
  EXPECT_EQ(key_of(KeyKind::plain, directory, lease), "locks/a/694d9c3e5a1b2c03");
  EXPECT_EQ(key_of(KeyKind::read, directory, lease), "locks/a/read/7587892738802789379");
  EXPECT_EQ(key_of(KeyKind::write, directory, lease), "locks/a/write/7587892738802789379");
  for (const KeyKind kind : kinds) {
    const KeyValue made = key(kind, 1);
    EXPECT_EQ(kind_in(made), kind);
    EXPECT_EQ(lock_of(made), "locks/a");
  }
}

TEST(EtcdQueueKeys, AKeyBelongsToTheLockThatItsNameSays) {
  struct Case {
    std::string_view key;
    std::int64_t lease;
    std::optional<std::string_view> lock;
  };
  for (const Case& each : std::initializer_list<Case>{
           {"a/read/1764508113000000000", 7, "a"},  // Go's: the time, in the place of the lease
           {"a/write/1764508113000000000", 7, "a"},
           {"a/b/read/1764508113000000000", 7, "a/b"},
           {"a/read/1f", 0x1f, "a/read"},  // a plain key of a lock of that name
           {"a/read/read/7587892738802789379", 7, "a/read"},
           {"a/1f", 0x1f, "a"},
           {"a/1f", 0x1e, std::nullopt},
           {"a/1764508113000000000", 7, std::nullopt},
           {"a/read/", 7, std::nullopt},
           {"a/read/12x", 7, std::nullopt},
           {"a/bread/12", 7, std::nullopt},
           {"read/12", 7, std::nullopt},
           {"/read/12", 7, std::nullopt},
           {"a/read/1764508113000000000", 0, std::nullopt},  // without a lease
           {"a", 7, std::nullopt},
           {"", 7, std::nullopt}}) {
    EXPECT_EQ(lock_of({std::string(each.key), {}, 1, each.lease}), each.lock) << each.key;
  }
}

TEST(EtcdQueueKeys, AKeyBelowThoseOfALockMayBeOfAnother) {
  const auto is_other = [](const std::string& name) {
    return is_of_another_lock({directory + name, {}, 1, 0x1f}, directory);
  };
  for (const char* const own : {"1f", "read/1764508113000000000", "write/1764508113000000000",
                                "made by hand", "made/by hand"}) {
    EXPECT_FALSE(is_other(own)) << own;
  }
  for (const char* const other : {"b/1f", "b/read/1764508113000000000", "read/1f"}) {
    EXPECT_TRUE(is_other(other)) << other;
  }
}

TEST(EtcdQueueKeys, AKeyThatIsNotOfAReaderExcludesReaders) {
  const std::string below = directory + "b/1f", before = directory + "rea", after = directory + "s";
  for (const std::string& other : {below, before, after}) {
    EXPECT_EQ(kind_of(other, directory), KeyKind::plain) << other;
    bool excludes = false;
    for (const KeyRange& range : excluding(KeyKind::read, directory)) {
      excludes |= other >= range.begin && other < range.end;
    }
    EXPECT_TRUE(excludes) << other;
  }
}

TEST(EtcdQueueKeys, EachWaitsForTheLastEarlierKeyThatExcludesIt) {
  for_each_queue([](const Queue& queue) {
    const KeyValue* nearest = nullptr;
    for (const KeyValue& each : queue) {
      if (&each != &queue.back() && exclude(kind_in(each), kind_in(queue.back()))) nearest = &each;
    }
    const KeyValue* const found = predecessor(queue, queue.back());
    ASSERT_EQ(found == nullptr, nearest == nullptr);
    if (nearest != nullptr) {
      ASSERT_EQ(found->key, nearest->key);
    }
  });
}

TEST(EtcdQueueKeys, WhoWaitsForNobodyHoldsTheLockAndHoldersDoNotExcludeEachOther) {
  for_each_queue([](const Queue& queue) {
    const std::vector<bool> holds = holding(queue, directory);
    ASSERT_TRUE(holds.front());
    for (std::size_t index = 0; index < queue.size(); ++index) {
      ASSERT_EQ(holds[index], predecessor(queue, queue[index]) == nullptr);
      for (std::size_t other = 0; other < index; ++other) {
        if (!holds[index] || !holds[other]) continue;
        ASSERT_FALSE(exclude(kind_in(queue[index]), kind_in(queue[other])));
      }
    }
    Queue shuffled = queue;
    std::ranges::reverse(shuffled);
    std::vector<bool> reversed = holding(shuffled, directory);
    std::reverse(reversed.begin(), reversed.end());
    ASSERT_EQ(reversed, holds) << "in any order";
  });
}

// So the deletion that grants the lock to a place is the one that the place watches.
TEST(EtcdQueueKeys, WhoeverADeletionGrantsTheLockHasWaitedForThatKey) {
  for_each_queue([](const Queue& queue) {
    for (std::size_t gone = 0; gone < queue.size(); ++gone) {
      const Queue rest = without(queue, gone);
      for (const KeyValue& each : rest) {
        if (predecessor(rest, each) != nullptr) continue;
        const KeyValue* const before = predecessor(queue, each);
        if (before != nullptr) {
          ASSERT_EQ(before->key, queue[gone].key);
        }
      }
    }
  });
}

// A writer's key is replaced by a reader's, which is the last one, if nobody behind it excludes
// readers: if_none_after of the ranges of a reader.
TEST(EtcdQueueKeys, AWriterThatBecomesAReaderLetsNobodyInThatItExcludes) {
  int replaced = 0;
  for_each_queue([&](const Queue& queue) {
    if (kind_in(queue.front()) != KeyKind::write) return;
    const bool allowed = std::ranges::all_of(queue.begin() + 1, queue.end(), [](const auto& each) {
      const auto ranges = excluding(KeyKind::read, directory);
      return std::ranges::none_of(ranges, [&](const KeyRange& range) {
        return each.key >= range.begin && each.key < range.end;
      });
    });
    Queue after = without(queue, 0);
    after.push_back(key(KeyKind::read, 1'000));
    const std::vector<bool> holds = holding(after, directory);
    const bool all_read = std::ranges::find(holds, false) == holds.end();
    ASSERT_EQ(allowed, all_read);
    replaced += allowed ? 1 : 0;
  });
  EXPECT_EQ(replaced, 7) << "only readers behind it";
}

TEST(EtcdQueueKeys, ReadersAndWritersWaitForTheKeysThatGosRecipeWaitsFor) {
  for_each_queue([](const Queue& queue) {
    const bool plain = std::ranges::any_of(
        queue, [](const KeyValue& each) { return kind_in(each) == KeyKind::plain; });
    if (plain) return;
    for (const KeyValue& each : queue) {
      const KeyValue* const own = predecessor(queue, each);
      const KeyValue* const go = predecessor_in_go(queue, each);
      ASSERT_EQ(own == nullptr, go == nullptr);
      if (own != nullptr) {
        ASSERT_EQ(own->key, go->key);
      }
    }
  });
}

}  // namespace
}  // namespace latchkey::tests

// The table from keys to records.
#include "core/key_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>

namespace latchkey::detail {
namespace {

struct Record {
  InlineString key;
  std::size_t hash = 0;
  Record* next = nullptr;
  int value = 0;
  void reset() noexcept { value = 0; }
};

TEST(KeyTable, BehavesLikeAMap) {
  std::mt19937_64 random(42);
  KeyTable<Record> table;
  std::map<std::string, int> model;
  for (int step = 0; step < 100'000; ++step) {
    const std::string key(random() % 3 * 40 + 1, static_cast<char>('a' + random() % 20));
    const std::string name = key + std::to_string(random() % 50);
    const std::size_t hash = hash_key(name);
    Record* const found = table.find(name, hash);
    ASSERT_EQ(found != nullptr, model.contains(name));
    if (found == nullptr) {
      Record& made = table.insert(name, hash);
      ASSERT_EQ(made.value, 0);
      model[name] = made.value = step + 1;
    } else {
      ASSERT_EQ(found->value, model[name]);
      const bool odd = found->value % 2 != 0;
      ASSERT_EQ(table.erase_if(name, hash, [](const Record& each) { return each.value % 2 != 0; }),
                odd);
      if (!odd) table.erase(*found);
      ASSERT_FALSE(table.erase_if(name, hash, [](const Record&) { return true; }));
      model.erase(name);
    }
    ASSERT_EQ(table.size(), model.size());
  }
  std::map<std::string, int> seen;
  table.for_each([&](Record& record) {
    seen[std::string(record.key)] = record.value;
    table.erase(record);
  });
  EXPECT_EQ(seen, model);
  EXPECT_EQ(table.size(), 0U);
}

TEST(KeyTable, RecyclesRecords) {
  KeyTable<Record> table;
  const std::string key(64, 'x');
  Record* const first = &table.insert(key, hash_key(key));
  table.erase(*first);
  const std::string other(64, 'y');
  Record& second = table.insert(other, hash_key(other));
  EXPECT_EQ(&second, first);
  EXPECT_EQ(second.key.view(), other);
}

TEST(InlineString, KeepsItsTextAtEveryLength) {
  for (std::size_t size = 0; size <= 2 * InlineString::short_size; ++size) {
    std::string text;
    for (std::size_t at = 0; at < size; ++at) text += static_cast<char>('a' + at % 26);
    InlineString kept;
    kept = "something that was there before, longer than many";
    kept = text;
    ASSERT_EQ(kept.view(), text);
    ASSERT_TRUE(kept == text);
    ASSERT_FALSE(kept == text + "a");
    for (std::size_t at = 0; at < size; ++at) {
      std::string other = text;
      other[at] = '#';
      ASSERT_FALSE(kept == other) << at << " of " << size;
    }
    kept.clear();
    ASSERT_TRUE(kept == "");
  }
}

TEST(KeyTable, VisitsAllRecordsInSteps) {
  KeyTable<Record> table;
  std::set<std::string> missing;
  for (int index = 0; index < 1'000; ++index) {
    const std::string key = std::to_string(index);
    table.insert(key, hash_key(key));
    missing.insert(key);
  }
  for (int round = 0; round < 1'024; ++round) {
    table.visit_some([&](Record& record) { missing.erase(std::string(record.key)); });
  }
  EXPECT_TRUE(missing.empty());
}

TEST(HashKey, HashesSimilarKeysDifferently) {
  std::set<std::size_t> hashes, low, high;
  for (std::size_t length = 0; length < 40; ++length) {
    for (char last : {'a', 'b'}) hashes.insert(hash_key(std::string(length, 'x') + last));
  }
  EXPECT_EQ(hashes.size(), 80U);
  for (int number = 0; number < 256; ++number) {
    const std::size_t hash = hash_key("account:" + std::to_string(number));
    low.insert(hash & 255);
    high.insert(hash >> 56);
  }
  // With 256 balls in 256 urns, about 162 urns get one.
  EXPECT_GT(low.size(), 130U);
  EXPECT_GT(high.size(), 130U);
}

}  // namespace
}  // namespace latchkey::detail

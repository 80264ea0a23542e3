// OwnerIndex finds entries by owner, in the order of insertion.
#include "locks/coordinator/owner_index.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <vector>

namespace latchkey::detail {
namespace {

struct Entry {
  Owner owner;
  Entry* same_bucket = nullptr;
};

std::vector<const Entry*> found(const OwnerIndex<Entry>& index, Owner owner) {
  std::vector<const Entry*> all;
  for (const Entry* entry = index.first(owner); entry != nullptr; entry = index.next(*entry)) {
    all.push_back(entry);
  }
  return all;
}

TEST(OwnerIndexTest, AnEmptyIndexFindsNothing) {
  const OwnerIndex<Entry> index;
  EXPECT_EQ(index.first(Owner::make()), nullptr);
}

TEST(OwnerIndexTest, FindsWhatWasInsertedAndNotErasedInTheOrderOfInsertion) {
  constexpr unsigned seed = 7;
  std::mt19937 random(seed);
  std::vector<Owner> owners;
  for (int count = 0; count < 40; ++count) owners.push_back(Owner::make());
  std::map<Owner, std::vector<const Entry*>> expected;
  std::deque<Entry> entries;
  std::vector<Entry*> inside;
  OwnerIndex<Entry> index;
  for (int step = 0; step < 5'000; ++step) {
    const bool adds = inside.empty() || random() % 100 < (step < 2'500 ? 70U : 30U);
    if (adds) {
      Entry& made = entries.emplace_back(Entry{owners[random() % owners.size()]});
      index.insert(made);
      inside.push_back(&made);
      expected[made.owner].push_back(&made);
    } else {
      const std::size_t at = random() % inside.size();
      Entry& gone = *inside[at];
      inside.erase(inside.begin() + static_cast<std::ptrdiff_t>(at));
      std::erase(expected[gone.owner], &gone);
      index.erase(gone);
    }
    const Owner asked = owners[random() % owners.size()];
    ASSERT_EQ(found(index, asked), expected[asked]) << "seed " << seed << ", step " << step;
  }
}

}  // namespace
}  // namespace latchkey::detail

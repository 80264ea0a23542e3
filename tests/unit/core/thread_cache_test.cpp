// ThreadCache and SmallVector.
#include "core/thread_cache.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include "core/collections/small_vector.hpp"

namespace latchkey::detail {
namespace {

struct Counted {
  Counted() noexcept { ++alive; }
  ~Counted() { --alive; }
  void reset() noexcept { value = 0; }
  Counted* next = nullptr;
  int value = 0;
  static inline std::atomic<int> alive = 0;
};

TEST(ThreadCache, ReusesTheLatestObjectAndKeepsFew) {
  std::thread([] {
    Counted& first = ThreadCache<Counted>::take();
    first.value = 7;
    ThreadCache<Counted>::give_back(first);
    EXPECT_EQ(&ThreadCache<Counted>::take(), &first);
    EXPECT_EQ(first.value, 0);
    std::vector<Counted*> many{&first};
    while (many.size() < 3 * ThreadCache<Counted>::most)
      many.push_back(&ThreadCache<Counted>::take());
    for (Counted* each : many) ThreadCache<Counted>::give_back(*each);
    EXPECT_EQ(Counted::alive, static_cast<int>(ThreadCache<Counted>::most));
  }).join();
  EXPECT_EQ(Counted::alive, 0) << "what a thread kept goes with it";
}

// Its destructor runs after the thread cache's, as that of a hold in a thread's local may.
struct Late {
  ~Late() {
    ThreadCache<Counted>::give_back(ThreadCache<Counted>::take());
    ThreadCache<Counted>::give_back(ThreadCache<Counted>::take());
  }
};

TEST(ThreadCache, WorksWhileTheThreadEnds) {
  std::thread([] {
    thread_local const Late late;
    static_cast<void>(&late);
    ThreadCache<Counted>::give_back(ThreadCache<Counted>::take());
  }).join();
  EXPECT_EQ(Counted::alive, 0);
}

TEST(SmallVector, KeepsItsElementsTogetherHoweverManyThereAre) {
  SmallVector<int, 4> list;
  for (int round = 0; round < 2; ++round) {
    for (int count = 0; count < 10; ++count) {
      std::vector<int> expected(static_cast<std::size_t>(count));
      std::iota(expected.begin(), expected.end(), round);
      for (int value : expected) list.push_back(value);
      EXPECT_EQ(std::vector<int>(list.begin(), list.end()), expected);
      for (std::size_t left = expected.size() + 1; left-- > 0;) {
        list.shorten(left);
        expected.resize(left);
        EXPECT_EQ(std::vector<int>(list.data(), list.data() + list.size()), expected);
      }
      list.clear();
      EXPECT_TRUE(list.empty());
    }
  }
}

}  // namespace
}  // namespace latchkey::detail

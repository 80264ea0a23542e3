// Random FAIR queues of C++ and Java waiters are served in order of arrival.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>

#include "redis/scripts/redisson.hpp"
#include "redis/scripts/script_fixture.hpp"

namespace latchkey::tests {
namespace {

/// Runs Redisson's scripts and ours on one key, as their clients would. Time passes in steps of 4
/// s. In each step every C++ waiter tries once, as the coordinator does. A Java waiter waits for 1
/// s to 30 min and tries when it is notified.
class FairOrder : public ScriptTest {
 protected:
  struct Waiter {
    std::string owner;
    std::uint64_t number = 0;          // only for ours
    std::unique_ptr<JavaClient> java;  // null: ours
    long long wait = 0, waited = 0;    // Java's
    bool killed = false;
  };
  using Line = std::vector<std::unique_ptr<Waiter>>;

  long long below(long long end) {
    return static_cast<long long>(random_() % static_cast<std::uint64_t>(end));
  }

  void begin(std::uint64_t seed) {
    redis({"FLUSHALL"});
    random_.seed(seed);
    line_.clear();
    holder_ = newcomer(false);
    ASSERT_TRUE(try_acquire(*holder_));
  }

  std::unique_ptr<Waiter> newcomer(bool java) {
    auto waiter = std::make_unique<Waiter>();
    if (java) {
      waiter->owner = java_owner(++last_java_);
      waiter->java = std::make_unique<JavaClient>(server.client(), waiter->owner);
      waiter->wait = below(3) == 0 ? 300'000 : 1'000 * (1 + below(1'800));
    } else {
      waiter->number = ++last_;
      waiter->owner = owner(waiter->number);
    }
    return waiter;
  }

  /// One attempt; true: granted.
  bool try_acquire(Waiter& who) {
    if (who.java) return who.java->fair_lock("k", 60'000, who.wait, now_ms()).is_nil();
    return client.acquire("k", LockType::FAIR, id(who.number), lease, queue_wait).kind ==
           Kind::granted;
  }

  Names queue() { return redis({"LRANGE", "redisson_lock_queue:{k}", "0", "-1"}).list(); }

  /// Expects all live C++ waiters in the queue in order of arrival. Redisson may drop a Java waiter
  /// whose score has passed, or move it to the end.
  void check_queue() {
    const Names there = queue();
    std::erase_if(line_, [&](const auto& each) {
      const bool gone = std::ranges::find(there, each->owner) == there.end();
      if (gone && !each->java && !each->killed) ADD_FAILURE() << each->owner << " lost its place";
      return gone;
    });
    for (auto each = line_.begin(); each != line_.end(); ++each) {
      const auto at = static_cast<std::size_t>(each - line_.begin());
      if (!(*each)->java || there.at(at) == (*each)->owner) continue;
      std::rotate(each, each + 1, line_.end());
      --each;
      if (++moved_ > 1'000'000) break;
    }
    Names expected;
    for (const auto& each : line_) expected.push_back(each->owner);
    EXPECT_EQ(there, expected);
  }

  void arrive() {
    // An empty queue gets a Java waiter more often: no script knows how long that one will wait.
    auto waiter = newcomer(below(line_.empty() ? 4 : 2) != 0);
    const bool held = redis({"EXISTS", "k"}).integer() == 1;
    const Names scores = passed();
    const bool enters = try_acquire(*waiter);
    line_.push_back(std::move(waiter));
    if (enters) return granted(*line_.back(), held, scores);  // all others may have expired
    check_queue();
  }

  void pass_four_seconds(bool held) {
    pass(milliseconds(4'000));
    if (held) redis({"PEXPIRE", "k", "60000"});
    for (std::size_t at = 0; at < line_.size();) {
      Waiter& each = *line_[at];
      each.waited += 4'000;
      if (each.java && each.waited >= each.wait && each.wait != 300'000) {
        each.java->fair_give_up("k", each.wait);
        line_.erase(line_.begin() + static_cast<std::ptrdiff_t>(at));
        continue;
      }
      ++at;
    }
    std::vector<Waiter*> all;
    for (const auto& each : line_) all.push_back(each.get());
    std::ranges::shuffle(all, random_);
    for (Waiter* const each : all) {
      const bool stands =
          std::ranges::any_of(line_, [&](const auto& one) { return one.get() == each; });
      if (!stands || each->killed || (each->java && below(4) != 0)) continue;
      if (!held && each == line_.front().get()) continue;  // serve() grants it
      const Names scores = passed();
      if (try_acquire(*each)) return granted(*each, held, scores);
      check_queue();
    }
  }

  /// The waiters whose scores have passed, or pass within the 5 s that a busy machine may take.
  /// Every script drops those at the head. The Java waiters here are of one client and listen to
  /// nothing: with one that was called in vain, which its score says, all lose their places.
  Names passed() {
    const std::string end = std::to_string(now_ms() + 5'000);
    const Names entries =
        redis({"ZRANGEBYSCORE", "redisson_lock_timeout:{k}", "-inf", end, "WITHSCORES"}).list();
    Names all;
    bool in_vain = false;
    for (std::size_t at = 0; at + 1 < entries.size(); at += 2) {
      all.push_back(entries[at]);
      in_vain |= std::fmod(std::stod(entries[at + 1]), 1) == 1.0 / 4096;
    }
    for (const auto& each : line_) {
      if (in_vain && each->java) all.push_back(each->owner);
    }
    return all;
  }

  /// Expects that every waiter ahead of the granted one has expired: it was killed, or it is a Java
  /// waiter whose score had `passed` before, so that the same script dropped it.
  void granted(Waiter& who, bool held, const Names& passed) {
    const auto self =
        std::ranges::find_if(line_, [&](const auto& each) { return each.get() == &who; });
    const auto expired = [&](const auto& each) {
      const bool dropped = std::ranges::find(passed, each->owner) != passed.end();
      return each->killed || (each->java && dropped);
    };
    const bool its_turn = !held && std::all_of(line_.begin(), self, expired);
    EXPECT_TRUE(its_turn) << who.owner << " came before its turn";
    take(self);
  }
  void take(Line::iterator whom) {
    holder_ = std::move(*whom);
    line_.erase(whom);
    ++served_;
    check_queue();
  }

  /// Releases the lock. The head acquires it, possibly after another waiter has arrived.
  void serve() {
    if (holder_->java) {
      holder_->java->fair_unlock("k", now_ms());
    } else {
      client.send(Verb::release, "k", LockType::FAIR, id(holder_->number));
    }
    check_queue();
    const int before = served_;
    if (below(3) == 0 && !line_.empty()) arrive();
    while (!HasFailure() && served_ == before) {
      if (line_.empty()) line_.push_back(newcomer(false));
      Waiter& next = *line_.front();
      if (next.killed) {
        pass_the_killed();
      } else if (try_acquire(next)) {
        take(line_.begin());
      } else {
        EXPECT_TRUE(next.java) << next.owner << ", whose turn it was";
        check_queue();  // Redisson dropped it
        EXPECT_TRUE(line_.empty() || line_.front().get() != &next) << next.owner;
      }
    }
  }

  /// The lock is free and its head was killed: expects the others to acquire it in time.
  void pass_the_killed() {
    long long blocked = 0, blocked_for_ours = 0;
    const int before = served_;
    while (!HasFailure() && !line_.empty() && line_.front()->killed) {
      const Waiter* const dead = line_.front().get();
      const auto lives = [](const auto& each) { return !each->killed; };
      if (std::ranges::none_of(line_, lives)) arrive();
      if (served_ != before) return;
      const bool seen =
          std::ranges::any_of(line_, [&](const auto& each) { return lives(each) && !each->java; });
      pass_four_seconds(false);
      if (served_ != before) return;
      drop_heads_by_java();
      const bool same = !line_.empty() && line_.front().get() == dead;
      blocked = same ? blocked + 4'000 : 0;
      blocked_for_ours = same && seen ? blocked_for_ours + 4'000 : 0;
      EXPECT_LE(blocked, 1'900'000) << "a waiter that was killed blocks the lock";
      EXPECT_LE(blocked_for_ours, 8'000) << "it blocks live waiters of latchkey";
    }
  }

  /// Every script of Redisson drops expired heads.
  void drop_heads_by_java() {
    JavaClient(server.client(), java_owner(0)).fair_unlock("k", now_ms());
    check_queue();
  }

  void step() {
    const long long what = below(20);
    if (what < 6 && line_.size() < 8) return arrive();
    if (what < 9) return serve();
    if (what == 9 && !line_.empty()) {
      Waiter& one = *line_[static_cast<std::size_t>(below(std::ssize(line_)))];
      if (!one.java && below(2) == 0) one.killed = true;
      return;
    }
    if (what == 10 && !line_.empty()) return leave(below(std::ssize(line_)));
    const long long steps = below(6) == 0 ? below(100) : 1 + below(3);
    for (long long count = 0; count < steps && !HasFailure(); ++count) pass_four_seconds(true);
  }

  void leave(long long at) {
    Waiter& one = *line_[static_cast<std::size_t>(at)];
    if (one.killed) return;
    if (one.java) {
      one.java->fair_give_up("k", one.wait);
    } else {
      client.send(Verb::leave, "k", LockType::FAIR, id(one.number));
    }
    line_.erase(line_.begin() + at);
    check_queue();
  }

  int served_ = 0, moved_ = 0;

 private:
  std::mt19937_64 random_;
  Line line_;
  std::unique_ptr<Waiter> holder_;
  std::uint64_t last_ = 0;
  int last_java_ = 0;
};

TEST_F(FairOrder, CppAndJavaWaitersAreServedInOrderOfArrival) {
  const char* const given = std::getenv("LATCHKEY_SEED");
  const std::uint64_t first =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}() % 1'000'000;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(4);
  std::uint64_t seed = first;
  do {
    SCOPED_TRACE("LATCHKEY_SEED=" + std::to_string(seed));
    begin(seed);
    for (int count = 0; count < 60 && !HasFailure(); ++count) {
      SCOPED_TRACE("step " + std::to_string(count));
      step();
    }
    ++seed;
  } while (!HasFailure() && given == nullptr && std::chrono::steady_clock::now() < until);
  std::cout << "seeds " << first << " to " << seed - 1 << ", " << served_ << " served\n";
}

}  // namespace
}  // namespace latchkey::tests

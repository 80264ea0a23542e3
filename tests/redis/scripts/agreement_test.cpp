// Sends the same random requests to the scripts and to the memory backend's lock table, and
// compares the outcomes.
//
// The two differ in these points, which this test avoids or does not compare:
// - Types of one id. The scripts store a plain hold and a READ under the same field name, so an id
//   uses either the plain types or READ and WRITE.
// - Expiry in the FAIR queue. In the table each place ends with its own queue_wait. The scripts
//   drop only the head, so a later place lives longer. Here each waiter retries before its place
//   ends.
// - Tokens. They increase over all keys in the table, and per key in Redis.
// - The holder that a busy reply names. Redis may name a reader whose lease ended while
//   others read.
// - The clock. Redis has its own.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <set>

#include "redis/protocol/names.hpp"
#include "redis/scripts/agreement_owners.hpp"
#include "redis/scripts/script_fixture.hpp"

namespace latchkey::tests {
namespace {

using namespace agreement;

class Agreement : public ScriptTest {
 protected:
  std::uint64_t below(std::uint64_t end) { return random_() % end; }

  void begin(std::uint64_t seed) {
    redis({"FLUSHALL"});
    random_.seed(seed);
    table_.emplace();
    waiting_.clear();
    downgraded_.clear();
    last_token_.clear();
    granted_.keys.clear();
    asked_.clear();
    table_now_ = Clock::time_point(std::chrono::hours(1'000));
    real_start_ = std::chrono::steady_clock::now();
    for (const std::string_view key : all_keys) {
      Request request =
          ScriptClient::make_request(Verb::subscribe, key, LockType::REENTRANT, {id(1).space, 0});
      request.queues = true;
      table_->apply(request, now(), &granted_);
      for (const std::uint64_t number : listening()) {
        table_->apply(ScriptClient::make_request(Verb::subscribe, key, LockType::FAIR, id(number)),
                      now(), &granted_);
      }
    }
  }

  static std::vector<std::string> grant_channels() {
    std::vector<std::string> channels;
    for (const std::string_view key : all_keys) {
      const bool tagged = key.find('{') != std::string_view::npos;
      const std::string channel = "redisson_lock__channel:" + (tagged ? "" : std::string("{")) +
                                  std::string(key) + (tagged ? "" : "}") + ":";
      channels.push_back(channel + id(1).text().substr(0, 36));
      for (const std::uint64_t number : listening())
        channels.push_back(channel + id(number).text());
      // A revocation is noted if somebody hears it.
      channels.push_back(detail::redis::revoke_channel_of(detail::redis::Tag(key)));
    }
    return channels;
  }
  static bool is_read_write(LockType type) {
    return type == LockType::READ || type == LockType::WRITE;
  }
  LockType type_of(const Claim& claim) {
    const LockType type = all_types[claim.number % std::size(all_types)];
    return downgraded_.contains(claim) ? LockType::READ : type;
  }
  /// Whether the acquires of this id, as this type, ask for a fencing token.
  static void ask_for_token(Request& request) {
    const bool may_ask = request.type == LockType::WRITE || request.type == LockType::FAIR;
    request.fenced = may_ask && request.id.number <= 2 * all_ids / 3;
  }
  Claim any_claim() { return {all_keys[below(std::size(all_keys))], 1 + below(all_ids)}; }

  /// Leases end in the middle between the instants to which time is moved: what the machine takes
  /// for the commands themselves decides nothing.
  milliseconds any_lease() { return milliseconds(10'000 * (1 + below(6)) + 5'000); }
  static constexpr milliseconds longest_lease{65'000};

  Request any_request() {
    static constexpr Verb verbs[] = {Verb::acquire, Verb::acquire,   Verb::acquire, Verb::acquire,
                                     Verb::renew,   Verb::verify,    Verb::release, Verb::release,
                                     Verb::leave,   Verb::downgrade, Verb::expire};
    const Claim claim = any_claim();
    const std::uint64_t seldom = below(40);
    const Verb usual = verbs[below(std::size(verbs))];
    Request request =
        ScriptClient::make_request(seldom == 0   ? Verb::force_release
                                   : seldom <= 2 ? Verb::revoke
                                                 : usual,
                                   claim.key, type_of(claim), id(claim.number), any_lease());
    const bool plain = !is_read_write(request.type);
    if (request.verb == Verb::downgrade) {
      if (plain) request.verb = Verb::verify;
      if (!plain) request.type = LockType::WRITE;
    } else if (!plain && below(4) == 0) {
      // As the type that it may not be at the server.
      request.type = request.type == LockType::READ ? LockType::WRITE : LockType::READ;
    }
    if (request.verb == Verb::acquire && below(4) != 0) request.queue_wait = queue_wait;
    ask_for_token(request);
    const bool waits = request.verb == Verb::acquire || request.verb == Verb::leave;
    const bool exclusive = request.type != LockType::FAIR && request.type != LockType::READ;
    request.queues = waits && exclusive && below(3) != 0;
    const bool leases = request.verb == Verb::expire || request.verb == Verb::renew;
    request.recall = leases && detail::can_be_kept(request.type) && below(2) != 0;
    return request;
  }

  Clock::time_point now() { return table_now_ + (std::chrono::steady_clock::now() - real_start_); }

  void ask_both(const Request& request) {
    SCOPED_TRACE(std::string(to_string(request.verb)) + ' ' + std::string(to_string(request.type)) +
                 ' ' + std::string(request.key) + " by " + std::to_string(request.id.number));
    const LockInfo before = inspect_table(request.key);
    const Outcome expected = table_->apply(request, now());
    const Outcome outcome = send(request);
    asked_.note(request, inspect_table(request.key));
    ASSERT_EQ(outcome.kind, expected.kind) << outcome.reason;
    if (outcome.kind == Kind::busy) compare_busy(outcome, expected, before, request);
    EXPECT_EQ(outcome.place != 0, expected.place != 0);
    if (outcome.kind == Kind::granted && request.verb == Verb::acquire) {
      EXPECT_EQ(outcome.token != 0, request.wants_token());
      EXPECT_EQ(expected.token != 0, request.wants_token());
      if (request.wants_token()) compare_token(outcome, request, before);
    }
    remember(request, outcome);
    compare_state(request.key);
  }

  /// A check is sent by itself, or among others.
  Outcome send(const Request& request) {
    if (!detail::redis::is_check(request.verb) || below(2) == 0) return client.send(request);
    std::vector<Request> all;
    const std::size_t place = below(4);
    for (std::size_t index = 0; index < 4; ++index) {
      const Claim claim = any_claim();
      all.push_back(index == place ? request
                                   : ScriptClient::make_request(Verb::verify, claim.key,
                                                                type_of(claim), id(claim.number)));
    }
    const detail::redis::CheckAnswers answers =
        client.check(std::vector<const Request*>{&all[0], &all[1], &all[2], &all[3]});
    Outcome outcome;
    for (std::size_t index = 0; index < 4; ++index) {
      const Outcome its = outcome_of(answers.of(index));
      if (index == place) {
        outcome.kind = its.kind;
      } else {
        EXPECT_EQ(its.kind, table_->apply(all[index], now()).kind) << index;
      }
    }
    return outcome;
  }
  static Outcome outcome_of(detail::redis::CheckAnswers::Answer answer) {
    using Answer = detail::redis::CheckAnswers::Answer;
    Outcome outcome;
    if (answer == Answer::held) outcome.kind = Kind::granted;
    if (answer == Answer::gone) outcome.kind = Kind::gone;
    return outcome;
  }

  void compare_busy(const Outcome& outcome, const Outcome& expected, const LockInfo& before,
                    const Request& request) {
    const auto is_holder = [&](const HolderInfo& holder) { return holder.id == outcome.holder; };
    // The request may have granted the lock to the process that is next.
    const bool known = std::ranges::any_of(before.holders, is_holder) ||
                       std::ranges::any_of(inspect_table(request.key).holders, is_holder);
    const bool nobody = outcome.holder.empty() && before.holders.empty();
    EXPECT_TRUE(known || nobody || before.type == LockType::READ) << outcome.holder;
    ASSERT_EQ(outcome.retry_after.has_value(), expected.retry_after.has_value());
    const auto apart = *outcome.retry_after - *expected.retry_after;
    const auto much = request.type == LockType::FAIR ? 300'000 + 2 * 15'000 : 4'000;
    EXPECT_LE(std::abs(apart.count()), much);
  }

  void compare_token(const Outcome& outcome, const Request& request, const LockInfo& before) {
    std::uint64_t& last = last_token_[std::string(request.key)];
    const bool again = !before.holders.empty();
    const bool any = again && granted_.keys.erase(std::string(request.key)) > 0;
    EXPECT_TRUE(again ? any || outcome.token == last : outcome.token > last) << outcome.token;
    last = outcome.token;
  }

  /// Records what the coordinator would know.
  void remember(const Request& request, const Outcome& outcome) {
    const auto key = std::ranges::find(all_keys, request.key);
    const Claim claim{*key, request.id.number};
    const bool granted = outcome.kind == Kind::granted;
    if (request.verb == Verb::downgrade && granted) downgraded_.insert(claim);
    if (request.verb == Verb::release || request.verb == Verb::leave) downgraded_.erase(claim);
    if (request.verb == Verb::leave) waiting_.erase(claim);
    if (request.verb == Verb::acquire && request.type == LockType::FAIR) {
      if (granted) waiting_.erase(claim);
      if (!granted && request.queue_wait.count() > 0) waiting_.insert(claim);
    }
  }

  LockInfo inspect_table(std::string_view key) {
    LockInfo info;
    Request request = ScriptClient::make_request(Verb::inspect, key);
    request.info = &info;
    table_->apply(request, now());
    return info;
  }

  void compare_state(std::string_view key) {
    const LockInfo expected = inspect_table(key), info = client.inspect(key);
    EXPECT_EQ(info.locked, expected.locked);
    EXPECT_EQ(holders(info), holders(expected));
    EXPECT_EQ(asked_.revoked_of(info, expected), revoked(expected));
    EXPECT_EQ(info.queue, expected.queue);
    EXPECT_EQ(info.type, expected.type);
    // Mutual exclusion holds whatever the table contains.
    EXPECT_TRUE(info.holders.size() <= 1 || info.type == LockType::READ);
  }

  /// Lets ten seconds pass. Then every live waiter retries.
  void pass_time() {
    pass(milliseconds(10'000));
    table_now_ += std::chrono::seconds(10);
    for (const std::string_view key : all_keys) compare_state(key);
    std::vector<Claim> asking(waiting_.begin(), waiting_.end());
    std::ranges::shuffle(asking, random_);
    for (const Claim& claim : asking) {
      Request request = ScriptClient::make_request(Verb::acquire, claim.key, LockType::FAIR,
                                                   id(claim.number), any_lease());
      request.queue_wait = queue_wait;
      ask_for_token(request);
      ask_both(request);
    }
  }

  /// Everything is given up: nothing stays but tokens.
  void end() {
    for (const std::string_view key : all_keys) {
      for (std::uint64_t number = 1; number <= all_ids; ++number) {
        const Claim claim{key, number};
        Request leave = ScriptClient::make_request(Verb::leave, key, type_of(claim), id(number));
        if (is_read_write(leave.type)) client.send(leave);
        if (is_read_write(leave.type)) leave.type = LockType::WRITE;
        client.send(leave);
        leave.queues = leave.type != LockType::FAIR;
        client.send(leave);
      }
    }
    for (const std::string& key : keys()) {
      const long long left = pttl(key);
      const bool ends_by_itself = key.starts_with("latchkey_") && left != -1;
      EXPECT_TRUE(ends_by_itself || key.starts_with("redisson_lock_token:"))
          << key << " stayed behind";
      const bool is_of_lease = key.starts_with("latchkey_revoke:");
      EXPECT_LE(left, (is_of_lease ? longest_lease : queue_wait).count()) << key;
    }
  }

 private:
  std::mt19937_64 random_;
  Grants granted_;
  AskedHolders asked_;
  std::vector<std::string> channels_ = grant_channels();
  Subscriber listener_ = subscribe(channels_);
  std::optional<detail::LockTable> table_;
  std::set<Claim> waiting_, downgraded_;
  std::map<std::string, std::uint64_t> last_token_;
  Clock::time_point table_now_;
  std::chrono::steady_clock::time_point real_start_;
};

TEST_F(Agreement, ScriptsAndLockTableGiveTheSameOutcomes) {
  const char* const given = std::getenv("LATCHKEY_SEED");
  const std::uint64_t first =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}() % 1'000'000;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(4);
  std::uint64_t seed = first;
  do {
    SCOPED_TRACE("LATCHKEY_SEED=" + std::to_string(seed));
    begin(seed);
    for (int step = 0; step < 150 && !HasFailure(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      below(12) == 0 ? pass_time() : ask_both(any_request());
    }
    if (!HasFailure()) end();
    ++seed;
  } while (!HasFailure() && given == nullptr && std::chrono::steady_clock::now() < until);
  std::cout << "seeds " << first << " to " << seed - 1 << '\n';
}

}  // namespace
}  // namespace latchkey::tests

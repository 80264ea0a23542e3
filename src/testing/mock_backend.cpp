// The default actions of the mock, and how requests are printed.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/testing/mock_backend.hpp>

#include <utility>

namespace latchkey::inline v1 {

void PrintTo(const Request& request, std::ostream* out) {
  *out << to_string(request.verb) << ' ' << to_string(request.type) << " '" << request.key
       << "' as " << request.id.text();
  if (request.lease.count() > 0) *out << " for " << request.lease.count() << " ms";
}

void PrintTo(const Outcome& outcome, std::ostream* out) {
  switch (outcome.kind) {
    case Outcome::Kind::granted: *out << "granted"; break;
    case Outcome::Kind::busy: *out << "busy"; break;
    case Outcome::Kind::gone: *out << "gone"; break;
    case Outcome::Kind::unknown: *out << "unknown"; break;
    case Outcome::Kind::refused: *out << "refused"; break;
  }
  const std::string& detail = outcome.kind == Outcome::Kind::busy ? outcome.holder : outcome.reason;
  if (!detail.empty()) *out << ": " << detail;
}

namespace testing {
namespace {

using ::testing::_;
using ::testing::Return;

Outcome outcome_of(Outcome::Kind kind, std::string why) {
  Outcome outcome;
  outcome.kind = kind;
  outcome.reason = std::move(why);
  return outcome;
}

class RequestMatcher {
 public:
  using is_gtest_matcher = void;

  RequestMatcher(std::string key, std::optional<LockType> type)
      : key_(std::move(key)), type_(type) {}

  bool MatchAndExplain(const Request& request, std::ostream*) const {
    return request.key == key_ && (!type_ || request.type == *type_);
  }
  void DescribeTo(std::ostream* out) const { describe(*out, "is about "); }
  void DescribeNegationTo(std::ostream* out) const { describe(*out, "is not about "); }

 private:
  void describe(std::ostream& out, std::string_view verb) const {
    out << verb;
    if (type_) out << "the " << to_string(*type_) << " lock ";
    out << '\'' << key_ << '\'';
  }

  std::string key_;
  std::optional<LockType> type_;
};

}  // namespace

MockBackend::MockBackend(Clock& clock) : SimpleBackend(clock) {
  offered_.fair = offered_.read_write = offered_.fenced = offered_.tokens = true;
  ON_CALL(*this, acquire(_)).WillByDefault([this](const Request& request) {
    return granted(request.wants_token() ? last_token_ += request.tokens : 0);
  });
  ON_CALL(*this, renew(_)).WillByDefault(Return(granted()));
  ON_CALL(*this, release(_)).WillByDefault(Return(granted()));
  ON_CALL(*this, verify(_)).WillByDefault(Return(granted()));
  ON_CALL(*this, leave(_)).WillByDefault(Return(granted()));
  ON_CALL(*this, downgrade(_)).WillByDefault(Return(granted()));
  ON_CALL(*this, inspect(_)).WillByDefault([this](const Request& request) {
    return SimpleBackend::inspect(request);
  });
  ON_CALL(*this, list(_)).WillByDefault([this](const Request& request) {
    return SimpleBackend::list(request);
  });
  ON_CALL(*this, force_release(_)).WillByDefault([this](const Request& request) {
    return SimpleBackend::force_release(request);
  });
}

MockBackend::~MockBackend() = default;

Outcome MockBackend::unknown(std::string why) {
  return outcome_of(Outcome::Kind::unknown, std::move(why));
}

Outcome MockBackend::refused(std::string why) {
  return outcome_of(Outcome::Kind::refused, std::move(why));
}

::testing::Matcher<const Request&> RequestFor(std::string key, std::optional<LockType> type) {
  return RequestMatcher(std::move(key), type);
}

}  // namespace testing
}  // namespace latchkey::inline v1

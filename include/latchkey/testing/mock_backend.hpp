// A backend whose answers a test decides.
#pragma once

#include <gmock/gmock.h>

#include <atomic>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include <latchkey/clock.hpp>
#include <latchkey/simple_backend.hpp>

namespace latchkey::testing {

/// GoogleMock over SimpleBackend. By default it grants everything to everybody, so a test says only
/// what is different:
///
///     auto backend = std::make_unique<NiceMock<MockBackend>>();
///     EXPECT_CALL(*backend, acquire(RequestFor("account:42", LockType::WRITE)))
///         .WillOnce(Return(MockBackend::refused("not allowed")));
///     const latchkey::testing::ScopedLocks locks(std::move(backend));
///
/// Within one Locks owners exclude each other before anybody is asked; two Locks over mocks know
/// nothing of each other. `NiceMock` keeps calls quiet that nothing is expected of. Functions are
/// called on whichever threads drive, those of one key one after the other.
class MockBackend : public SimpleBackend {
 public:
  /// `clock`: that of the Options of the Locks over it.
  explicit MockBackend(Clock& clock = Clock::system());
  ~MockBackend() override;

  /// All types of locks; no administration.
  [[nodiscard]] Capabilities capabilities() const noexcept override { return offered_; }
  /// To be said before the Locks are made.
  void offer(const Capabilities& capabilities) noexcept { offered_ = capabilities; }
  [[nodiscard]] std::string describe() const override { return "mock:"; }

  MOCK_METHOD(Outcome, acquire, (const Request& request), (override));
  MOCK_METHOD(Outcome, renew, (const Request& request), (override));
  MOCK_METHOD(Outcome, release, (const Request& request), (override));
  MOCK_METHOD(Outcome, verify, (const Request& request), (override));
  MOCK_METHOD(Outcome, leave, (const Request& request), (override));
  MOCK_METHOD(Outcome, downgrade, (const Request& request), (override));
  MOCK_METHOD(Outcome, inspect, (const Request& request), (override));
  MOCK_METHOD(Outcome, list, (const Request& request), (override));
  MOCK_METHOD(Outcome, force_release, (const Request& request), (override));

  /// Outcomes to return.
  using SimpleBackend::busy;
  using SimpleBackend::gone;
  using SimpleBackend::granted;
  using SimpleBackend::granted_if;
  /// Nobody can tell: the answer never came. `why`: a clause without a full stop.
  [[nodiscard]] static Outcome unknown(std::string why = "the mock does not answer");
  /// The backend says no.
  [[nodiscard]] static Outcome refused(std::string why = "the mock refuses");

 private:
  Capabilities offered_;
  std::atomic<std::uint64_t> last_token_{0};
};

/// Matches requests about this key, with its prefix; of any type where none is said.
[[nodiscard]] ::testing::Matcher<const Request&> RequestFor(
    std::string key, std::optional<LockType> type = std::nullopt);

}  // namespace latchkey::testing

namespace latchkey {

/// How GoogleTest prints them.
void PrintTo(const Request& request, std::ostream* out);
void PrintTo(const Outcome& outcome, std::ostream* out);

}  // namespace latchkey

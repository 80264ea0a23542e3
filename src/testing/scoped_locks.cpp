// Replaces the default Locks, or the policies, for one scope of a test.
// SPDX-License-Identifier: BSL-1.0
#include <exception>
#include <mutex>
#include <stdexcept>
#include <utility>

#include <latchkey/default_locks.hpp>
#include <latchkey/testing/failure.hpp>
#include <latchkey/testing/scoped_locks.hpp>
#include <latchkey/testing/scoped_policies.hpp>

namespace latchkey::inline v1::testing {

/// Records events and forwards them.
class ScopedLocks::Witness final : public Recorder {
 public:
  explicit Witness(Listener* next) noexcept : next_(next) {}

  void on_event(const Event& event) override {
    if (event.kind == Event::Kind::order) {
      const std::lock_guard lock(mutex_);
      reports_.push_back(event.text);
    }
    Recorder::on_event(event);
    if (next_ != nullptr) next_->on_event(event);
  }

  std::vector<std::string> take_reports() {
    const std::lock_guard lock(mutex_);
    return std::exchange(reports_, {});
  }

 private:
  Listener* const next_;
  std::mutex mutex_;
  std::vector<std::string> reports_;
};

namespace {

Options watched(Options options, Listener& witness) {
  options.check_order = true;
  options.listener = &witness;
  return options;
}

Locks locks_over(std::unique_ptr<Backend> backend, Options options) {
  if (backend == nullptr) return Locks::connect("memory:", std::move(options));
  return Locks(std::move(backend), std::move(options));
}

}  // namespace

ScopedLocks::ScopedLocks(Options options)
    : ScopedLocks(std::make_unique<Witness>(options.listener), nullptr, options) {}

ScopedLocks::ScopedLocks(std::unique_ptr<Backend> backend, Options options)
    : ScopedLocks(std::make_unique<Witness>(options.listener), std::move(backend), options) {}

ScopedLocks::ScopedLocks(std::unique_ptr<Witness> witness, std::unique_ptr<Backend> backend,
                         Options options)
    : witness_(std::move(witness)),
      locks_(locks_over(std::move(backend), watched(std::move(options), *witness_))),
      outer_(latchkey::detail::override_default(&locks_)) {}

ScopedLocks::ScopedLocks(Locks locks)
    : locks_(std::move(locks)), outer_(latchkey::detail::override_default(&locks_)) {}

ScopedLocks::~ScopedLocks() {
  latchkey::detail::override_default(outer_);
  if (witness_ == nullptr) return;
  try {
    locks_.close(std::chrono::milliseconds(0));
    for (const std::string& report : witness_->take_reports()) {
      report_failure("lock order: " + report);
    }
  } catch (const std::exception& error) {
    report_failure(std::string("the end of the ScopedLocks failed: ") + error.what());
  }
}

ScopedLocks::Witness& ScopedLocks::witness() const {
  if (witness_ == nullptr) {
    throw std::logic_error(
        "these ScopedLocks were given Locks without a recorder: set Options::listener to a "
        "testing::Recorder, or let ScopedLocks make the Locks");
  }
  if (!locks_.flush(Recorder::patience)) {
    throw std::logic_error(
        "the listener did not get all events in time: does one of its calls block?");
  }
  return *witness_;
}

std::vector<Taken> ScopedLocks::taken() const { return witness().taken(); }

std::vector<Event> ScopedLocks::events() const { return witness().events(); }

std::vector<std::string> ScopedLocks::order_reports() const { return witness().take_reports(); }

void ScopedLocks::forget() const { witness().clear(); }

ScopedPolicies::ScopedPolicies(const std::string& name, const std::optional<std::string>& text)
    : outer_(
          ::latchkey::detail::publish_policies(&::latchkey::detail::policies_of_test(name, text))) {
}

ScopedPolicies ScopedPolicies::from_file(const std::string& path) { return {path, std::nullopt}; }

ScopedPolicies ScopedPolicies::from_text(const std::string& yaml) {
  return {"the test's policies", yaml};
}

ScopedPolicies::~ScopedPolicies() { ::latchkey::detail::publish_policies(outer_); }

}  // namespace latchkey::inline v1::testing

// Requests to etcd for which there is no memory.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <new>
#include <string>

#include <latchkey/backend.hpp>
#include <latchkey/parker.hpp>

#include "etcd_fixture.hpp"
#include "exhaustion/scarce_memory.hpp"
#include "support/servers/fault_proxy.hpp"

namespace latchkey::tests {
namespace {

using namespace std::chrono_literals;

/// Remembers the last outcome.
class OneOutcome final : public Sink {
 public:
  void completed(Request&, Outcome&& outcome) noexcept override {
    kind = outcome.kind;
    done = true;
  }
  void notified(const Notification&) noexcept override {}

  bool done = false;
  Outcome::Kind kind = Outcome::Kind::unknown;
};

class EtcdMemory : public ::testing::Test {
 protected:
  static Request verify(const std::string& key) {
    Request made;
    made.verb = Verb::verify;
    made.key = key;
    made.id = {{1, 1}, 7};
    return made;
  }
  void submit(Request& request) {
    Request* const one = &request;
    backend_->submit({&one, 1}, sink_);
  }
  void drive() { backend_->drive(Parker::mine(), Clock::system().now() + 100ms); }
  Outcome::Kind outcome_of(Request& request) {
    sink_.done = false;
    submit(request);
    while (!sink_.done) drive();
    return sink_.kind;
  }
  bool is_taken(Request& request) {
    sink_.done = false;
    try {
      submit(request);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  FaultProxy proxy_{shared_etcd().port()};
  std::unique_ptr<Backend> backend_ =
      etcd_backend("etcd://127.0.0.1:" + std::to_string(proxy_.port()) + "/?session=20s");
  OneOutcome sink_;
};

// The end of the connection was told to a queue that did not exist, which ended the process.
TEST_F(EtcdMemory, AQueueThatCouldNotBeMadeIsNotKnown) {
  const std::string other = fresh_etcd_key();
  const std::string key = fresh_etcd_key() + " with a name that needs memory";
  Request first = verify(other), request = verify(key);
  EXPECT_EQ(outcome_of(first), Outcome::Kind::gone);
  std::size_t nth = 0;
  for (bool failed = true; failed;) {
    fail_allocation(++nth);
    const bool taken = is_taken(request);
    failed = allocation_failed();
    while (taken && !sink_.done) drive();  // its outcome is unknown
  }
  EXPECT_GE(nth, 3U) << "nothing failed";
  proxy_.cut();
  EXPECT_TRUE(eventually([&] { return outcome_of(request) == Outcome::Kind::gone; }));
}

}  // namespace
}  // namespace latchkey::tests

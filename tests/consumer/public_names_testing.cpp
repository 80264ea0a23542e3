// Each public noun of the testing kit, with public headers only.
#include <latchkey/testing.hpp>
#include <latchkey/testing/backend_contract.hpp>
#include <latchkey/testing/core.hpp>
#include <latchkey/testing/failure.hpp>
#include <latchkey/testing/holds_lock.hpp>
#include <latchkey/testing/manual_clock.hpp>
#include <latchkey/testing/mock_backend.hpp>
#include <latchkey/testing/recorder.hpp>
#include <latchkey/testing/scoped_locks.hpp>
#include <latchkey/testing/scoped_policies.hpp>
#include <latchkey/testing/simulator.hpp>

namespace every_public_name {

using latchkey::testing::FailureReporter;
using latchkey::testing::HoldsLock;
using latchkey::testing::HoldsLockMatcher;
using latchkey::testing::MakeStore;
using latchkey::testing::ManualClock;
using latchkey::testing::MockBackend;
using latchkey::testing::Recorder;
using latchkey::testing::report_failures_to;
using latchkey::testing::RequestFor;
using latchkey::testing::ScheduledFault;
using latchkey::testing::ScopedLocks;
using latchkey::testing::ScopedPolicies;
using latchkey::testing::simulate;
using latchkey::testing::SimulatedStore;
using latchkey::testing::SimulationReport;
using latchkey::testing::SimulationSettings;

}  // namespace every_public_name

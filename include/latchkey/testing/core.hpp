// Everything that tests of a service need, without GoogleMock: target latchkey::testing_core.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <latchkey/testing/failure.hpp>
#include <latchkey/testing/manual_clock.hpp>
#include <latchkey/testing/recorder.hpp>
#include <latchkey/testing/scoped_locks.hpp>
#include <latchkey/testing/scoped_policies.hpp>

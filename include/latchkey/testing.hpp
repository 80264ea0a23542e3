// Everything that tests of a service need: target latchkey::testing.
#pragma once

#include <latchkey/cxx20.hpp>

#include <latchkey/testing/holds_lock.hpp>
#include <latchkey/testing/manual_clock.hpp>
#include <latchkey/testing/mock_backend.hpp>
#include <latchkey/testing/recorder.hpp>
#include <latchkey/testing/scoped_locks.hpp>

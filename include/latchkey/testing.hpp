// Everything that tests of a service need, with GoogleMock: target latchkey::testing.
#pragma once

#include <latchkey/cxx20.hpp>

#include <latchkey/testing/core.hpp>
#include <latchkey/testing/holds_lock.hpp>
#include <latchkey/testing/mock_backend.hpp>

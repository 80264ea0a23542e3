// Everything that tests of a service need, with GoogleMock: target latchkey::testing.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <latchkey/testing/core.hpp>
#include <latchkey/testing/holds_lock.hpp>
#include <latchkey/testing/mock_backend.hpp>

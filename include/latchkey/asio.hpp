// Locks for Boost.Asio: acquires, releases and decorated coroutines that block no thread. Needs
// Boost.Asio >= 1.26 (Boost 1.81) and the target latchkey::asio.
//
// LOCKED(...) AROUND(...) -> asio::awaitable<T> { body } and DECORATED(LOCKED(...),
// asio::awaitable<T>, ...) run a coroutine under a lock; async_acquire, async_try_acquire and
// async_release take any completion token. See docs/coroutines.md.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

// First the headers with compile errors for users: see latchkey.hpp.
#include <latchkey/aspect.hpp>
#include <latchkey/detail/key/plan.hpp>
#include <latchkey/detail/locked/checks.hpp>
#include <latchkey/detail/locked/ready.hpp>

#include <latchkey/locked.hpp>

#include <latchkey/asio/async.hpp>
#include <latchkey/asio/first_of.hpp>
#include <latchkey/asio/latch.hpp>
#include <latchkey/asio/leader.hpp>
#include <latchkey/asio/once.hpp>
#include <latchkey/detail/asio/locked_coroutine.hpp>

// The umbrella header: locks, decorated methods and their errors.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#if __cplusplus >= 202002L  // an older standard gets the one #error of cxx20.hpp and nothing else
// First the headers with compile errors for users, from this file and in an order in which none is
// included by another one: GCC shows the way to a header before each error in it.
#include <latchkey/aspect.hpp>
#include <latchkey/completes_at_return.hpp>
#include <latchkey/detail/key/plan.hpp>
#include <latchkey/detail/locked/checks.hpp>
#include <latchkey/detail/locked/key_text.hpp>
#include <latchkey/for_scope.hpp>

#include <latchkey/decorated_callable.hpp>
#include <latchkey/detail/locked/ready.hpp>

#include <latchkey/locked.hpp>

#include <latchkey/locked_once_per.hpp>

#include <latchkey/count_down_latch.hpp>
#include <latchkey/decorate.hpp>
#include <latchkey/detail/reflect.hpp>
#include <latchkey/error.hpp>
#include <latchkey/fence.hpp>
#include <latchkey/held.hpp>
#include <latchkey/install.hpp>
#include <latchkey/leader.hpp>
#include <latchkey/listener.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/once_per.hpp>
#include <latchkey/options.hpp>
#include <latchkey/owner.hpp>
#include <latchkey/registry.hpp>
#include <latchkey/semaphore.hpp>
#include <latchkey/site.hpp>
#include <latchkey/version.hpp>
#endif

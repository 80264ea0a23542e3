// Everything that a service needs: locks, decorated methods, what they throw.
#pragma once

#include <latchkey/cxx20.hpp>

#if __cplusplus >= 202002L  // otherwise nothing is said but that one sentence
#include <latchkey/completes_at_return.hpp>
#include <latchkey/decorate.hpp>
#include <latchkey/error.hpp>
#include <latchkey/held.hpp>
#include <latchkey/install.hpp>
#include <latchkey/listener.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/locked.hpp>
#include <latchkey/locks.hpp>
#include <latchkey/options.hpp>
#include <latchkey/owner.hpp>
#include <latchkey/reflect.hpp>
#include <latchkey/registry.hpp>
#include <latchkey/site.hpp>
#endif

// The macros of latchkey, with their long and their short names.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#include <latchkey/aspect.hpp>
#include <latchkey/detail/aspect/method_frame.hpp>
#include <latchkey/detail/decorate/words.hpp>
#include <latchkey/held.hpp>
#include <latchkey/locked.hpp>
#include <latchkey/locked_once_per.hpp>
#include <latchkey/macros/decorated.hpp>
#include <latchkey/macros/locked.hpp>
#include <latchkey/macros/short.hpp>

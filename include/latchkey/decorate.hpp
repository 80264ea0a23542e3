// The macros of latchkey, with their long and their short names.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/cxx20.hpp>

#include <latchkey/aspect.hpp>
#include <latchkey/aspect/method_frame.hpp>
#include <latchkey/decorate/decorated.hpp>
#include <latchkey/decorate/macros.hpp>
#include <latchkey/decorate/once_per.hpp>
#include <latchkey/decorate/short_names.hpp>
#include <latchkey/decorate/words.hpp>
#include <latchkey/held.hpp>
#include <latchkey/locked.hpp>

// Annotations of C++26: [[=latchkey::locked("account:{account.id}")]].
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/detail/cxx20.hpp>

#if !defined(__cpp_impl_reflection) || !defined(__cpp_expansion_statements)
#error "annotations need C++26 reflection (P2996, P3394): GCC 16 with -std=c++26 -freflection"
#else
// First the headers with compile errors for users, as in latchkey.hpp.
#include <latchkey/aspect.hpp>
#include <latchkey/detail/locked/checks.hpp>
#include <latchkey/detail/locked/condition.hpp>

#include <latchkey/latchkey.hpp>

#include <latchkey/annotations/check.hpp>
#include <latchkey/annotations/proxy.hpp>
#include <latchkey/annotations/word.hpp>
#endif

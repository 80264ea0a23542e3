// The objects behind the handles of the C interface.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <latchkey/latchkey.h>

#include <string>
#include <utility>

#include <latchkey/hold.hpp>
#include <latchkey/locks.hpp>

struct latchkey_locks {
  latchkey::Locks locks;
};

struct latchkey_hold {
  explicit latchkey_hold(latchkey::Hold&& its) : hold(std::move(its)), key(hold.key()) {}

  latchkey::Hold hold;
  const std::string key;
  std::string fence{};  ///< the last text that latchkey_hold_fence has returned
};

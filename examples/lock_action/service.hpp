// The service of lock_action.cpp with macros.
#pragma once

#include <latchkey/latchkey.hpp>

#include <chrono>
#include <string>

#include "user.hpp"

using namespace std::chrono_literals;
using latchkey::LockType;

class LockActionService : Writes {
 public:
  // (a) around a body
  std::string update(const UserVO& userVO) {
    return LOCKED("'updateKey'") AROUND(userVO) { return write(userVO); };
  }

  std::string update_by_id(const UserVO& userVO) {
    return LOCKED("#userVO.id") AROUND(userVO) { return write(userVO); };
  }

  // (b) at the declaration
  DECORATED(LOCKED("#userVO.id", LockType::WRITE, 30s), std::string, write_by_id,
            (const UserVO&) userVO) {
    return write(userVO);
  }

  DECORATED(LOCKED("#userVO.id", LockType::READ, 30s), std::string, read_by_id, (const),
            (const UserVO&) userVO) {
    return std::string(latchkey::current_hold()->key()) + " " + userVO.name + ": " +
           std::to_string(writes_);
  }
};

// The service of lock_action.cpp with annotations of C++26, as Java has them.
#pragma once

#include <latchkey/annotations.hpp>

#include <chrono>
#include <string>

#include "user.hpp"

using namespace std::chrono_literals;
using latchkey::LockType;

/// The methods of LockActionService, which take the same locks.
// clang-format off: as docs/annotations.md has it
class AnnotatedLockActionService : Writes {
 public:
  [[=latchkey::locked("'updateKey'")]]
  std::string update(const UserVO& userVO) {
    LOCK_ANNOTATED;
    return write(userVO);
  }

  [[=latchkey::locked("#userVO.id")]]
  std::string update_by_id(const UserVO& userVO) {
    LOCK_ANNOTATED;
    return write(userVO);
  }

  [[=latchkey::locked("#userVO.id", LockType::WRITE, 30s)]]
  std::string write_by_id(const UserVO& userVO) {
    LOCK_ANNOTATED;
    return write(userVO);
  }

  [[=latchkey::locked("#userVO.id", LockType::READ, 30s)]]
  std::string read_by_id(const UserVO& userVO) const {
    LOCK_ANNOTATED;
    return std::string(latchkey::current_hold()->key()) + " " + userVO.name + ": " +
           std::to_string(writes_);
  }
};
// clang-format on

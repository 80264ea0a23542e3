// The service of lock_action.cpp with annotations of C++26, as Java has them.
#pragma once

#include <latchkey/annotations.hpp>

#include <chrono>
#include <string>
#include <thread>

#include "user.hpp"

using namespace std::chrono_literals;
using latchkey::LockType;

/// The methods of LockActionService, which take the same locks.
// clang-format off: as docs/annotations.md has it
class AnnotatedLockActionService {
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

 private:
  // Would lose counts if two threads were ever in here for the same user.
  std::string write(const UserVO& userVO) {
    const int before = writes_;
    std::this_thread::yield();
    writes_ = before + 1;
    return std::string(latchkey::current_hold()->key()) + " " + userVO.name;
  }

  int writes_ = 0;
};
// clang-format on

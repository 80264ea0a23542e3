// The argument of the service, whose keys name its members, and the work that its locks protect.
#pragma once

#include <latchkey/held.hpp>
#include <latchkey/hold.hpp>

#include <string>
#include <thread>

struct UserVO {
  int id = 0;
  std::string name;
};

/// Counts writes, and would lose counts if two threads were ever in `write` for the same user.
class Writes {
 protected:
  std::string write(const UserVO& userVO) {
    const int before = writes_;
    std::this_thread::yield();
    writes_ = before + 1;
    return std::string(latchkey::current_hold()->key()) + " " + userVO.name;
  }

  int writes_ = 0;
};

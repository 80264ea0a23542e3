// The argument of the service: its keys name the members.
#pragma once

#include <string>

struct UserVO {
  int id = 0;
  std::string name;
};

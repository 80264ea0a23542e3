// The articles that the shop of docs/tutorial.md sells.
#pragma once

#include <string>

struct Article {
  std::string name;
};

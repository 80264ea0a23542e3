// The service of docs/tutorial.md, with a macro.
#pragma once

#include <latchkey/latchkey.hpp>

#include <chrono>

#include "article.hpp"

using namespace std::chrono_literals;
using latchkey::LockType;

class Stock : public Shelf {
 public:
  using Shelf::Shelf;

  int add(const Article& article, int count) {
    // Waits for at most 3 s; the lease ends after 30 s.
    return LOCKED("stock:{article.name}", LockType::WRITE, 3s, 30s) AROUND(article, count) {
      const int total = load(article) + count;
      save(article, total);
      return total;
    };
  }
};

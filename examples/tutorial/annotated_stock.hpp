// The service of docs/tutorial.md, with an annotation of C++26.
#pragma once

#include <latchkey/annotations.hpp>

#include <chrono>

#include "article.hpp"

using namespace std::chrono_literals;
using latchkey::LockType;

/// The methods of Stock, which take the same locks.
class AnnotatedStock : public Shelf {
 public:
  using Shelf::Shelf;

  // clang-format off: as docs/annotations.md has it
  [[=latchkey::locked("stock:{article.name}", LockType::WRITE, 3s, 30s)]]
  int add(const Article& article, int count) {
    LOCK_ANNOTATED;
    const int total = load(article) + count;
    save(article, total);
    return total;
  }
  // clang-format on
};

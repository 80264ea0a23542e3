// The service of docs/tutorial.md, with an annotation of C++26.
#pragma once

#include <latchkey/annotations.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "article.hpp"

using namespace std::chrono_literals;
using latchkey::LockType;

/// The methods of Stock, which take the same locks.
class AnnotatedStock {
 public:
  explicit AnnotatedStock(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
  }

  // clang-format off: as docs/annotations.md has it
  [[=latchkey::locked("stock:{article.name}", LockType::WRITE, 3s, 30s)]]
  int add(const Article& article, int count) {
    LOCK_ANNOTATED;
    const int total = load(article) + count;
    save(article, total);
    return total;
  }
  // clang-format on

 private:
  int load(const Article& article) const {
    int total = 0;
    std::ifstream(folder_ / article.name) >> total;
    return total;
  }
  void save(const Article& article, int total) const {
    std::ofstream(folder_ / article.name) << total << '\n';
  }

  std::filesystem::path folder_;
};

// The service of docs/tutorial.md, with a macro.
#pragma once

#include <latchkey/latchkey.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "article.hpp"

using namespace std::chrono_literals;
using latchkey::LockType;

class Stock {
 public:
  explicit Stock(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
  }

  int add(const Article& article, int count) {
    // Waits for at most 3 s; the lease ends after 30 s.
    return LOCKED("stock:{article.name}", LockType::WRITE, 3s, 30s) AROUND(article, count) {
      const int total = load(article) + count;
      save(article, total);
      return total;
    };
  }

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

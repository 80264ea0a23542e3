// The articles that the shop of docs/tutorial.md sells, and the files with their counts.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

struct Article {
  std::string name;
};

/// One file for each article. It locks nothing: Stock and AnnotatedStock do.
class Shelf {
 public:
  explicit Shelf(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
  }

 protected:
  int load(const Article& article) const {
    int total = 0;
    std::ifstream(folder_ / article.name) >> total;
    return total;
  }
  void save(const Article& article, int total) const {
    std::ofstream(folder_ / article.name) << total << '\n';
  }

 private:
  std::filesystem::path folder_;
};

// A source file as the rules see it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace latchkey::tidy {

struct Include {
  std::size_t line;
  std::string name;  ///< without its brackets or quotes
  bool quoted;
};

struct SourceFile {
  std::string path;  ///< from the root of the repository, with '/'
  std::string text;

  bool is_header() const { return path.ends_with(".hpp"); }
  std::vector<std::string_view> lines() const;
  std::vector<Include> includes() const;
  /// True if the file says `// tidy: <what> because <why>`.
  bool gives_reason_for(std::string_view what) const;
};

/// All .hpp and .cpp files of the folders that the house rules cover.
std::vector<SourceFile> read_tree(const std::filesystem::path& root);

/// The scripts and the pages: .lua and .md files.
std::vector<SourceFile> read_prose(const std::filesystem::path& root);

}  // namespace latchkey::tidy

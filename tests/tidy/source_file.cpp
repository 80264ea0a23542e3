// Reads source files, and finds their includes without a compiler.
#include "source_file.hpp"

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <regex>
#include <sstream>
#include <utility>

namespace latchkey::tidy {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream in{path, std::ios::binary};
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

std::vector<SourceFile> read_files(const std::filesystem::path& root,
                                   std::initializer_list<const char*> folders,
                                   std::initializer_list<std::string_view> extensions) {
  std::vector<SourceFile> files;
  for (const char* folder : folders) {
    if (!std::filesystem::exists(root / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{root / folder}) {
      const std::string extension = entry.path().extension().string();
      if (std::ranges::find(extensions, extension) == extensions.end()) continue;
      files.push_back({entry.path().lexically_relative(root).generic_string(), read(entry.path())});
    }
  }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

}  // namespace

std::vector<std::string_view> SourceFile::lines() const {
  std::vector<std::string_view> result;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    result.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return result;
}

std::vector<Include> SourceFile::includes() const {
  static const std::regex directive{R"(^\s*#\s*include\s*([<"])([^>"]+)[>"])"};
  std::vector<Include> result;
  std::size_t number = 0;
  for (const std::string_view line : lines()) {
    ++number;
    std::match_results<std::string_view::const_iterator> match;
    if (std::regex_search(line.begin(), line.end(), match, directive)) {
      result.push_back({number, match[2].str(), match[1].str() == "\""});
    }
  }
  return result;
}

bool SourceFile::gives_reason_for(std::string_view what) const {
  const std::string start = "// tidy: " + std::string{what} + " because ";
  return std::ranges::any_of(lines(), [&](std::string_view line) {
    const std::size_t at = line.find(start);
    return at != std::string_view::npos && line.size() > at + start.size();
  });
}

std::vector<SourceFile> read_tree(const std::filesystem::path& root) {
  return read_files(root, {"include", "src", "tests", "examples", "bench"}, {".hpp", ".cpp"});
}

std::vector<SourceFile> read_prose(const std::filesystem::path& root) {
  std::vector<SourceFile> files = read_files(root, {"lua", "docs"}, {".lua", ".md"});
  files.push_back({"README.md", read(root / "README.md")});
  return files;
}

}  // namespace latchkey::tidy

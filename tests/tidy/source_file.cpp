// Reads source files, and finds includes and function bodies in them without a compiler.
#include "source_file.hpp"

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <regex>
#include <sstream>
#include <utility>

#include "plain_code.hpp"

namespace latchkey::tidy {
namespace {

/// Walks the braces of plain code and remembers those that open a function.
class FunctionFinder {
 public:
  explicit FunctionFinder(std::string code) : code_{std::move(code)} {}

  std::vector<Function> run() {
    for (at_ = 0; at_ < code_.size(); ++at_) {
      const char c = code_[at_];
      if (c == '\n') ++line_;
      if (in_body()) {
        step_in_body(c);
      } else {
        step_outside(c);
      }
    }
    return std::move(found_);
  }

 private:
  bool in_body() const { return depth_ > 0; }

  void step_in_body(char c) {
    if (c == '{') ++depth_;
    if (c != '}' || --depth_ > 0) return;
    // A brace initialiser of a constructor is followed by another, or by the body.
    const std::size_t next = code_.find_first_not_of(" \n", at_ + 1);
    if (next != std::string::npos && (code_[next] == ',' || code_[next] == '{')) return;
    if (is_function_) found_.push_back({start_, line_ - start_ + 1});
    head_.clear();
  }

  void step_outside(char c) {
    if (c == '{') {
      open();
    } else if (c == '}' || c == ';') {
      head_.clear();
    } else if (!head_.empty() || (c != ' ' && c != '\n')) {
      if (head_.empty()) start_ = line_;
      head_ += c;
    }
  }

  void open() {
    static const std::regex scope{R"(^(template\s*<[^{]*>\s*|\[\[[^\]]*\]\]\s*|inline\s+)*)"
                                  R"((namespace|class|struct|union|extern)\b[^=]*$)"};
    static const std::regex access{R"((public|protected|private)\s*:)"};
    const std::string head = std::regex_replace(head_, access, "");
    const std::string first = head.substr(std::min(head.find_first_not_of(" \n"), head.size()));
    if (std::regex_search(first, scope) && !returns_struct(first)) {
      head_.clear();
      return;
    }
    is_function_ = head.find(')') != std::string::npos;
    depth_ = 1;
  }

  /// `struct tm now() {`: a function after all.
  static bool returns_struct(const std::string& head) {
    return head.ends_with(") ") || head.ends_with(")") || head.ends_with("const ");
  }

  std::string code_;
  std::string head_;
  std::vector<Function> found_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t start_ = 1;
  int depth_ = 0;
  bool is_function_ = false;
};

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

std::vector<Function> SourceFile::functions() const {
  return FunctionFinder{plain_code(text)}.run();
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

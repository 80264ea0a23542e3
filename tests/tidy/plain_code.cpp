// Blanks comments, literals and preprocessor lines.
#include "plain_code.hpp"

#include <algorithm>

namespace latchkey::tidy {
namespace {

class Blanker {
 public:
  explicit Blanker(std::string_view text) : text_{text} {}

  std::string run() {
    while (at_ < text_.size()) {
      if (starts("//")) {
        blank_to(line_end());
      } else if (starts("/*")) {
        blank_past("*/", at_ + 2);
      } else if (starts("R\"") && !after_identifier()) {
        blank_raw();
      } else if (text_[at_] == '"') {
        blank_quoted('"');
      } else if (text_[at_] == '\'' && !after_identifier()) {
        blank_quoted('\'');
      } else if (text_[at_] == '#' && at_line_start()) {
        blank_to(line_end());
      } else {
        out_ += text_[at_++];
      }
    }
    return std::move(out_);
  }

 private:
  bool starts(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  /// A quote behind a letter or digit is a digit separator, an R there the end of a name.
  bool after_identifier() const { return at_ > 0 && is_word_byte(text_[at_ - 1]); }

  bool at_line_start() const {
    const std::size_t before = out_.find_last_not_of(' ');
    return before == std::string::npos || out_[before] == '\n';
  }

  /// The end of this line, lines joined by a backslash included.
  std::size_t line_end() const {
    std::size_t end = text_.find('\n', at_);
    while (end != std::string_view::npos && end > 0 && text_[end - 1] == '\\') {
      end = text_.find('\n', end + 1);
    }
    return std::min(end, text_.size());
  }

  void blank_to(std::size_t end) {
    for (; at_ < std::min(end, text_.size()); ++at_) out_ += text_[at_] == '\n' ? '\n' : ' ';
  }

  void blank_past(std::string_view what, std::size_t from) {
    const std::size_t end = text_.find(what, from);
    blank_to(end == std::string_view::npos ? text_.size() : end + what.size());
  }

  void blank_raw() {
    const std::size_t open = std::min(text_.find('(', at_), text_.size());
    std::string close{")"};
    close += text_.substr(at_ + 2, open - at_ - 2);
    close += '"';
    blank_past(close, open);
  }

  void blank_quoted(char quote) {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') {
      end += text_[end] == '\\' ? 2U : 1U;
    }
    blank_to(end + 1);
  }

  std::string_view text_;
  std::string out_;
  std::size_t at_ = 0;
};

}  // namespace

std::string plain_code(std::string_view text) { return Blanker{text}.run(); }

}  // namespace latchkey::tidy

// YAML as a plain tree with positions. Only this file uses yaml-cpp.
// SPDX-License-Identifier: BSL-1.0
#include "policy/yaml_tree.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <cstddef>
#include <map>
#include <sstream>

#include "policy/yaml_lines.hpp"

namespace latchkey::inline v1::detail {
namespace {

/// Replaces a value whose mistake has been reported.
constexpr std::string_view broken = "<latchkey: reported already>";

/// After each of these the whole file is parsed again, so the time that a file takes is bounded by
/// its size.
constexpr int most_repairs = 20;

Place place_of(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

/// Builds the tree from the parser's events; no aliases, so that it stays as small as its text.
class Builder : public YAML::EventHandler {
 public:
  explicit Builder(Problems& problems) : problems_(problems) {}

  [[nodiscard]] YamlNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { add({.at = place_of(mark)}); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    problems_.push_back({place_of(mark),
                         "an alias (*name) is not supported here: write the value out, or quote a "
                         "pattern that begins with *"});
    add({.at = place_of(mark), .broken = true});
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    const bool reported = value == broken;
    add({.kind = reported ? YamlNode::Kind::null : YamlNode::Kind::text,
         .at = place_of(mark),
         .text = value,
         .quoted = tag == "!",
         .broken = reported});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value style) override {
    begin({.kind = YamlNode::Kind::list,
           .at = place_of(mark),
           .flow = style == YAML::EmitterStyle::Flow});
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value style) override {
    begin({.kind = YamlNode::Kind::map,
           .at = place_of(mark),
           .flow = style == YAML::EmitterStyle::Flow});
  }
  void OnMapEnd() override { end(); }

 private:
  void begin(YamlNode node) { open_.push_back(std::move(node)); }
  void end() {
    YamlNode node = std::move(open_.back());
    open_.pop_back();
    add(std::move(node));
  }
  void add(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
    } else {
      open_.back().items.push_back(std::move(node));
    }
  }

  Problems& problems_;
  YamlNode root_{};
  std::vector<YamlNode> open_{};
};

/// The text without the lines that could not be read.
class Repair {
 public:
  explicit Repair(std::string_view text)
      : lines_(split_lines(text)), quotable_(lines_.size()), times_(lines_.size()) {
    bool quotable = false;
    for (std::size_t line = 0; line < lines_.size(); ++line) {
      if (begins_section(lines_[line])) quotable = begins_section_without_uris(lines_[line]);
      quotable_[line] = quotable && lines_[line].find("://") == no_letter;
    }
  }

  void close_quotes(Problems& problems) {
    for (std::size_t line = 0; line < lines_.size(); ++line) {
      if (leaves_quote_open(lines_[line])) report_and_take_out(line, problems);
    }
  }

  /// Reports the mistake that made the parser fail and removes it. False if none was found.
  bool mend(const YAML::ParserException& said, Problems& problems) {
    const std::size_t last = lines_.size() - 1;
    const std::size_t said_at =
        said.mark.line < 0 ? last : std::min(static_cast<std::size_t>(said.mark.line), last);
    // The parser notices an open bracket only in a later line.
    for (std::size_t line = said_at + 1; line-- > 0;) {
      if (times_[line] == 0 && report_and_take_out(line, problems)) return true;
    }
    if (times_[said_at] < 2) {
      const bool first = times_[said_at] == 0;
      const bool whole = !first || !split_line(lines_[said_at]).value;
      if (first) {
        problems.push_back({place_of(said.mark), "not YAML: " + said.msg +
                                                     "; values with : # { } ' in them are quoted"});
      }
      take_out(said_at);
      if (whole) take_out(said_at);
      return true;
    }
    return false;
  }

  [[nodiscard]] std::string text() const {
    std::string whole;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (i != 0) whole += '\n';
      whole += mended(i);
    }
    return whole;
  }

 private:
  void take_out(std::size_t line) { ++times_[line]; }
  bool report_and_take_out(std::size_t line, Problems& problems) {
    const auto mistake = mistake_in_line(lines_[line], static_cast<int>(line) + 1, quotable_[line]);
    if (!mistake) return false;
    problems.push_back(*mistake);
    take_out(line);
    return true;
  }

  /// The first repair removes the value, the second one the whole line.
  [[nodiscard]] std::string mended(std::size_t index) const {
    const std::string_view text = lines_[index];
    if (times_[index] == 0) return std::string(text);
    const YamlLine line = split_line(text);
    const bool name_is_good =
        line.key < text.size() && std::string_view("*&!%@`").find(text[line.key]) == no_letter;
    if (times_[index] > 1 || (name_is_good && !line.value)) return {};
    std::string kept(text.substr(0, line.value.value_or(text.size())));
    if (!name_is_good) {
      const std::size_t colon = kept.rfind(':');
      if (colon == no_letter || colon < line.key) return {};
      kept.insert(colon, 1, '"').insert(line.key, 1, '"');
    }
    return line.value ? kept + '"' + std::string(broken) + '"' : kept;
  }

  static constexpr std::size_t no_letter = std::string_view::npos;

  std::vector<std::string_view> lines_;
  std::vector<bool> quotable_;  ///< a message may show the line: it is no URI with a password
  std::vector<int> times_;
};

bool is_empty_document(const YamlNode& node) {
  return node.kind == YamlNode::Kind::null && !node.broken;
}

YamlNode parse(const std::string& text, Problems& problems) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Builder builder(problems);
  parser.HandleNextDocument(builder);
  YamlNode root = builder.take();
  Problems ignored;
  Builder further(ignored);
  if (parser.HandleNextDocument(further)) {
    const YamlNode more = further.take();
    if (!is_empty_document(more))
      problems.push_back({more.at, "a policy file is one YAML document"});
  }
  return root;
}

}  // namespace

YamlNode read_yaml(std::string_view text, Problems& problems) {
  // yaml-cpp 0.9 counts each as a line, older ones as a blank.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    const std::vector<std::string_view> before = split_lines(text.substr(0, zero));
    const Place at{static_cast<int>(before.size()), static_cast<int>(before.back().size()) + 1};
    problems.push_back({at, "not YAML: a byte 0; a policy file is text in UTF-8"});
    return {.broken = true};
  }
  Repair repair(text);
  repair.close_quotes(problems);
  for (int repairs = 0;; ++repairs) {
    Problems found;
    try {
      YamlNode root = parse(repair.text(), found);
      problems.insert(problems.end(), found.begin(), found.end());
      return root;
    } catch (const YAML::ParserException& said) {
      if (repairs == most_repairs) {
        problems.push_back({place_of(said.mark),
                            "from here on the file was not read: correct the lines that are not "
                            "YAML first"});
        return {.broken = true};
      }
      if (!repair.mend(said, problems)) return {.broken = true};
    }
  }
}

}  // namespace latchkey::inline v1::detail

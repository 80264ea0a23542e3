// The house rules that a program can check.
// tidy: long-file because each rule is a function of its own
#include "rules.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <span>
#include <utility>

#include "exceptions.hpp"
#include "layers.hpp"
#include "plain_code.hpp"
#include "private_words.hpp"

namespace latchkey::tidy {
namespace {

std::string at(const SourceFile& file, std::size_t line, const std::string& sentence) {
  return file.path + ":" + std::to_string(line) + ": " + sentence;
}

bool is_library(std::string_view path) {
  return path.starts_with("include/") || path.starts_with("src/");
}

std::optional<Layer> layer_of(std::string_view path) {
  const Place* best = nullptr;
  for (const Place& place : places) {
    if (!path.starts_with(place.path)) continue;
    if (best == nullptr || place.path.size() > best->path.size()) best = &place;
  }
  return best == nullptr ? std::nullopt : std::optional{best->layer};
}

/// The library's file behind an include, or nothing.
std::optional<std::string> library_path(const Include& include) {
  if (include.name.starts_with("latchkey/third_party/")) return std::nullopt;
  if (include.name.starts_with("latchkey/")) return "include/" + include.name;
  if (include.quoted) return "src/" + include.name;
  return std::nullopt;
}

std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(std::ranges::count_if(
      line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

/// `part` stands in `line`, and `fits` the bytes before and after it; 0: there is none.
template <class Fits>
bool occurs(std::string_view line, std::string_view part, const Fits& fits) {
  for (std::size_t from = line.find(part); from != std::string_view::npos;
       from = line.find(part, from + 1)) {
    const std::size_t end = from + part.size();
    const char before = from == 0 ? '\0' : line[from - 1];
    if (fits(before, end == line.size() ? '\0' : line[end])) return true;
  }
  return false;
}

/// `word` stands in `line`, and not as a part of a longer one.
bool has_word(std::string_view line, std::string_view word) {
  return occurs(line, word, [](char before, char after) {
    return !is_word_byte(before) && !is_word_byte(after);
  });
}

/// A name in `line` begins with `stem`, or has it after a '_'.
bool has_stem(std::string_view line, std::string_view stem) {
  return occurs(line, stem,
                [](char before, char /*after*/) { return before == '_' || !is_word_byte(before); });
}

}  // namespace

Findings belongs_to_a_layer(const SourceFile& file) {
  if (!is_library(file.path) || layer_of(file.path)) return {};
  return {at(file, 1, "belongs to no layer: add it to tests/tidy/layers.hpp")};
}

Findings includes_go_downwards(const SourceFile& file) {
  const std::optional<Layer> own = is_library(file.path) ? layer_of(file.path) : std::nullopt;
  if (!own) return {};
  Findings findings;
  for (const Include& include : file.includes()) {
    const auto path = library_path(include);
    if (!path) continue;
    const std::optional<Layer> other = layer_of(*path);
    if (!other) {
      findings.push_back(at(file, include.line, include.name + " belongs to no layer"));
    } else if (other->name != own->name && other->level >= own->level) {
      findings.push_back(at(file, include.line,
                            "layer " + std::string{own->name} + " (level " +
                                std::to_string(own->level) + ") includes " + include.name +
                                " of layer " + std::string{other->name} + " (level " +
                                std::to_string(other->level) + ")"));
    }
    if (file.path.starts_with("include/") && include.quoted) {
      findings.push_back(at(file, include.line, "a public header includes by <latchkey/...> only"));
    }
  }
  return findings;
}

Findings third_parties_stay_in_their_layers(const SourceFile& file) {
  Findings findings;
  for (const Include& include : file.includes()) {
    const auto begins = [&](std::string_view prefix) { return include.name.starts_with(prefix); };
    const auto* party = std::ranges::find_if(third_parties, begins, &ThirdParty::prefix);
    if (party == third_parties.end()) {
      const bool known = include.quoted || begins("latchkey/") ||
                         include.name.find('/') == std::string::npos ||
                         std::ranges::any_of(system_folders, begins);
      if (!known) findings.push_back(at(file, include.line, include.name + " has no layer"));
      continue;
    }
    const bool allowed =
        std::ranges::any_of(party->in,
                            [&](std::string_view place) {
                              return !place.empty() && file.path.starts_with(place);
                            }) &&
        !(party->only_cpp && file.is_header());
    if (!allowed) {
      findings.push_back(
          at(file, include.line, include.name + " is for " + std::string{party->where} + " only"));
    }
  }
  return findings;
}

Findings file_is_short(const SourceFile& file) {
  const auto lines = file.lines();
  // The lines that every file of the library has (is_marked) are not counted.
  const auto counts = [](std::string_view line) {
    return !line.starts_with("// SPDX-") && !line.starts_with("#pragma GCC visibility");
  };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(lines, counts));
  if (count > most_lines_with_a_reason) {
    return {at(file, count,
               std::to_string(count) + " lines; expected at most " +
                   std::to_string(most_lines_with_a_reason))};
  }
  if (count <= most_lines || file.gives_reason_for("long-file")) return {};
  return {
      at(file, count, std::to_string(count) + " lines, and no `// tidy: long-file because ...`")};
}

Findings lines_are_narrow(const SourceFile& file) {
  if (file.gives_reason_for("wide-lines")) return {};
  std::string wide;
  std::size_t first = 0;
  std::size_t number = 0;
  for (const std::string_view line : file.lines()) {
    ++number;
    // A line that expects a compiler's message is one regex, however long.
    if (columns(line) <= most_columns || line.starts_with("// expect")) continue;
    if (first == 0) first = number;
    wide += " " + std::to_string(number);
  }
  if (wide.empty()) return {};
  return {at(file, first, "more than " + std::to_string(most_columns) + " columns in" + wide)};
}

Findings header_is_included_once(const SourceFile& file) {
  if (!file.is_header()) return {};
  const auto lines = file.lines();
  if (std::ranges::find(lines, std::string_view{"#pragma once"}) != lines.end()) return {};
  return {at(file, 1, "has no #pragma once")};
}

Findings nothing_is_left_to_do(const SourceFile& file) {
  // Written in two parts, or this line would be the first finding.
  static const std::regex words{
      "\\b(TO"
      "DO|FIX"
      "ME|XX"
      "X)\\b"};
  Findings findings;
  std::size_t number = 0;
  for (const std::string_view line : file.lines()) {
    ++number;
    if (std::regex_search(line.begin(), line.end(), words)) {
      findings.push_back(at(file, number, "leaves something to do"));
    }
  }
  return findings;
}

// A signal to -1 goes to every process of the system.
Findings failed_forks_are_noticed(const SourceFile& file) {
  static const std::regex call{R"(::(_F|f)ork(pty)?\()"};
  Findings findings;
  const auto lines = file.lines();
  for (std::size_t line = 0; line < lines.size(); ++line) {
    if (!std::regex_search(lines[line].begin(), lines[line].end(), call)) continue;
    const auto notices = [&](std::size_t after) {
      return line + after < lines.size() &&
             lines[line + after].find("== -1") != std::string_view::npos;
    };
    if (!notices(1) && !notices(2)) {
      findings.push_back(at(file, line + 1, "does not notice that it cannot fork"));
    }
  }
  return findings;
}

// A test that sleeps is slow on an idle machine, and wrong on a busy one.
Findings sleeps_say_why(const SourceFile& file) {
  // Written in two parts, as above.
  static const std::regex call{
      "this_thread::sle"
      "ep_(for|until)\\("};
  constexpr std::string_view reason = "// sleeps: ";
  if (!file.path.starts_with("tests/")) return {};
  Findings findings;
  const auto lines = file.lines();
  const auto has_reason = [&](std::size_t line) {
    return lines[line].find(reason) != std::string_view::npos;
  };
  for (std::size_t line = 0; line < lines.size(); ++line) {
    if (!std::regex_search(lines[line].begin(), lines[line].end(), call)) continue;
    if (has_reason(line) || (line > 0 && has_reason(line - 1))) continue;
    findings.push_back(at(file, line + 1,
                          "sleeps: wait for an event, or say `// sleeps: <why none is there>` on "
                          "this line or the one before"));
  }
  return findings;
}

Findings first_line_says_why(const SourceFile& file) {
  const auto lines = file.lines();
  const std::string_view first = lines.empty() ? std::string_view{} : lines.front();
  constexpr std::size_t shortest = 12;
  if (first.starts_with("// ") && first.size() >= shortest) return {};
  return {at(file, 1, "the first line does not say why this file exists")};
}

// A comment that leans on its neighbour, or has no subject, must be read twice.
Findings comments_have_a_subject(const SourceFile& file) {
  static const std::regex comment{R"(^\s*//[/!]?<?)"};
  static const std::regex after_code{R"(^\s*[^\s/"][^"]*\s///?<? (Of|The same|What|Whoever)\b)"};
  static const std::regex bad{R"(^\s*//[/!]?<?\s*(Of|The same|What|Whoever)\b)"};
  Findings findings;
  bool in_comment = false;
  std::size_t number = 0;
  for (const std::string_view line : file.lines()) {
    ++number;
    const auto matches = [&](const std::regex& with) {
      return std::regex_search(line.begin(), line.end(), with);
    };
    const bool begins = !std::exchange(in_comment, matches(comment));
    if (in_comment ? begins && matches(bad) : matches(after_code)) {
      findings.push_back(at(file, number, "a comment begins without its subject"));
    }
  }
  return findings;
}

Findings uses_no_private_word(const SourceFile& file) {
  // Examples have words of their own trades; tests/tidy has the table.
  for (const char* folder : {"examples/", "bench/", "tests/tidy/"}) {
    if (file.path.starts_with(folder)) return {};
  }
  Findings findings;
  std::size_t number = 0;
  for (const std::string_view line : file.lines()) {
    ++number;
    const auto find = [&](std::span<const PrivateWord> words, const auto& has) {
      for (const PrivateWord& known : words) {
        if (!has(line, known.word)) continue;
        findings.push_back(at(file, number,
                              "private word '" + std::string{known.word} + "'; expected " +
                                  std::string{known.instead}));
      }
    };
    find(private_words, has_word);
    find(private_stems, has_stem);
  }
  return findings;
}

Findings is_marked(const SourceFile& file) {
  if (!is_library(file.path)) return {};
  // The testing kit and the adapters are static libraries only.
  static const std::regex shared("^include/latchkey/(?!(detail/)?(testing|asio)|adapters/)");
  bool licence = false, opens = false, hides = false, bare = false;
  for (const std::string_view line : file.lines()) {
    licence = licence || line == "// SPDX-License-Identifier: BSL-1.0";
    hides = hides || line == "#pragma GCC visibility push(default)";
    if (!line.starts_with("namespace latchkey")) continue;
    opens = true;
    bare = bare || !line.starts_with("namespace latchkey::inline v");
  }
  std::string missing;
  if (!licence) missing += " the licence,";
  if (bare) missing += " the namespace of the ABI,";
  if (opens && !hides && std::regex_search(file.path, shared)) missing += " the visibility,";
  if (missing.empty()) return {};
  missing.pop_back();
  return {at(file, 1, "lacks" + missing + ": run scripts/mark_sources.sh")};
}

Findings folders_are_small(const std::vector<SourceFile>& files) {
  std::map<std::string, std::size_t> counts;
  for (const SourceFile& file : files) ++counts[file.path.substr(0, file.path.rfind('/'))];
  Findings findings;
  for (const auto& [folder, count] : counts) {
    if (count <= most_files_of_a_folder) continue;
    if (std::ranges::find(crowded_folders, folder) != crowded_folders.end()) continue;
    findings.push_back(folder + ": " + std::to_string(count) + " files; expected at most " +
                       std::to_string(most_files_of_a_folder));
  }
  return findings;
}

}  // namespace latchkey::tidy

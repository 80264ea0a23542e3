// A policy file read and checked against the program.
// SPDX-License-Identifier: BSL-1.0
#include "install/policy_load.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <latchkey/registry.hpp>

#include "backend/registry.hpp"
#include "core/text/nearest.hpp"
#include "policy/reader.hpp"
#include "policy/secrets.hpp"

namespace latchkey::inline v1::detail {
namespace {

void check_scheme(const BackendEntry& backend, const std::vector<std::string>& known,
                  Problems& problems) {
  if (backend.uri.value.empty()) return;  // already reported
  const std::string scheme = scheme_of(backend.uri.value);
  if (std::find(known.begin(), known.end(), scheme) != known.end()) return;
  if (find_store(scheme) != nullptr) return;  // the program links it, or fails to connect
  const std::vector<std::string_view> right(known.begin(), known.end());
  // The value of a secret may be a password or a part of one.
  const bool secret = std::any_of(backend.secrets.begin(), backend.secrets.end(),
                                  [&](const Secret& one) { return one.value.starts_with(scheme); });
  if (scheme.empty() || secret) {
    problems.push_back(
        {backend.uri.at, "invalid URI: unknown scheme; expected one such as \"memory:\"" +
                             nearest_words("", right)});
  } else {
    problems.push_back({backend.uri.at, "unknown scheme " + quoted_word(scheme + ":") +
                                            nearest_words(scheme, right)});
  }
}

void check_backends(const PolicyFile& file, const std::vector<std::string>& known,
                    Problems& problems) {
  for (const BackendEntry& backend : file.backends) check_scheme(backend, known, problems);
  if (file.backends.empty()) {
    problems.push_back({{1, 1},
                        "the file names no backend: write backends:, and below it "
                        "main: \"redis://127.0.0.1:6379\" or main: \"memory:\""});
  }
}

}  // namespace

std::string scheme_of(const std::string& uri) {
  const std::size_t colon = uri.find(':');
  return colon == std::string::npos ? std::string() : uri.substr(0, colon);
}

namespace {

/// Nothing, and a problem, if the file cannot be opened and read.
std::optional<std::string> text_of(const std::string& path, Problems& problems) {
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (stream.is_open() && !stream.bad()) return text;
  const char* const why = errno != 0 ? std::strerror(errno) : "it is not a file";
  problems.push_back({{}, std::string("cannot be read: ") + why});
  return std::nullopt;
}

LoadedPolicies read_policy_file(const std::string& path, const std::vector<std::string>& schemes) {
  LoadedPolicies loaded;
  const std::optional<std::string> text = text_of(path, loaded.problems);
  if (!text) return loaded;
  loaded.readable = true;
  loaded.file = read_policies(*text, process_environment, loaded.problems);
  // If YAML could not read all sections, every other check would report their absence.
  const bool complete = !loaded.file.backends.empty() || loaded.problems.empty();
  if (complete) check_backends(loaded.file, schemes, loaded.problems);
  return loaded;
}

}  // namespace

LoadedPolicies load_policies(const std::string& path, const Program& program) {
  LoadedPolicies loaded = read_policy_file(path, program.schemes);
  for (const std::string& function : program.unbound) {
    loaded.problems.push_back(
        {{},
         function + " has an annotation and runs without its lock: write LOCK_ANNOTATED; in "
                    "its body, or call it through latchkey::Annotated"});
  }
  if (loaded.readable) loaded.plan = plan_policies(loaded.file, program, loaded.problems);
  return loaded;
}

LoadedPolicies load_policies(const std::string& path) {
  LoadedPolicies loaded = read_policy_file(path, backend_schemes());
  if (loaded.readable) check_keys(loaded.file, loaded.problems);
  return loaded;
}

LoadedPolicies load_test_policies(const std::string& path, const std::optional<std::string>& text) {
  LoadedPolicies loaded;
  const std::optional<std::string> read = text ? text : text_of(path, loaded.problems);
  if (!read) return loaded;
  loaded.readable = true;
  // No backend is connected, so their secrets need not be there.
  const auto any_value = [](const std::string&) { return std::optional<std::string>("unused"); };
  Program program = this_program();
  program.is_whole = false;
  loaded.file = read_policies(*read, any_value, loaded.problems);
  loaded.plan = plan_policies(loaded.file, program, loaded.problems);
  for (PlannedLock& lock : loaded.plan.locks) lock.backend.reset();
  return loaded;
}

std::vector<PolicyError> errors_of(const std::string& path, Problems problems) {
  std::sort(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.at.line, a.at.column, a.sentence) <
           std::tie(b.at.line, b.at.column, b.sentence);
  });
  std::vector<PolicyError> errors;
  for (const Problem& problem : problems) {
    errors.emplace_back(path, problem.at.line, problem.at.column, problem.sentence);
  }
  return errors;
}

void throw_problems(const std::string& path, Problems problems) {
  if (!problems.empty()) throw PolicyError(errors_of(path, std::move(problems)));
}

}  // namespace latchkey::inline v1::detail

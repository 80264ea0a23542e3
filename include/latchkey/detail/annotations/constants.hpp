// The constants of annotations, which may be neither chrono's types nor views of text.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <meta>
#include <span>
#include <string>
#include <string_view>

#include <latchkey/attempt.hpp>
#include <latchkey/detail/key/node.hpp>
#include <latchkey/detail/key/parser.hpp>
#include <latchkey/detail/key/syntax_sentence.hpp>
#include <latchkey/detail/locked/checks.hpp>
#include <latchkey/detail/locked/locked_call.hpp>
#include <latchkey/lease.hpp>
#include <latchkey/lock_type.hpp>
#include <latchkey/wait.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

class Locks;

namespace detail {

/// A text that may be part of a constant, which std::string_view may not.
struct ConstantText {
  const char* data = nullptr;
  std::size_t size = 0;

  [[nodiscard]] constexpr std::string_view view() const noexcept { return {data, size}; }
};

consteval ConstantText constant_text(std::string_view text) {
  return {std::define_static_string(text), text.size()};
}

/// The compile error of an annotation: GCC shows `sentence` as what() of an uncaught exception.
[[noreturn]] consteval void reject_annotation(std::string_view sentence) {
  throw std::meta::exception(std::string("latchkey: ") += sentence, ^^::latchkey);
}

/// A key that was parsed, so that no other part of the compilation parses it again.
struct ParsedConstant {
  const Node* nodes = nullptr;
  Parse parse{};  ///< no nodes: several keys, or the name of a policy
};

/// Rejects a key with a wrong syntax.
consteval ParsedConstant parse_annotation_key(std::string_view key) {
  ParsedConstant parsed;
  if (key.size() > max_template_size) {
    parsed.parse.mistake = SyntaxError::template_is_too_long;
  } else {
    Node* const nodes = new Node[node_capacity(key.size())]{};
    parsed.parse = Parser(key, nodes).run();
    if (parsed.parse.mistake == SyntaxError::none) {
      parsed.nodes =
          std::define_static_array(std::span(nodes, parsed.parse.node_count + 1U)).data();
    }
    delete[] nodes;
  }
  if (parsed.parse.mistake != SyntaxError::none) {
    reject_annotation(syntax_sentence(parsed.parse, key));
  }
  return parsed;
}

/// The meaning of an annotation's text.
enum class KeySource : unsigned char {
  text,    ///< a key template
  list,    ///< those of KEYS, separated as KeyList separates them
  policy,  ///< the name of a policy
};

inline constexpr std::int64_t no_limit = -1;  ///< `forever` as a wait, `watchdog` as a lease

/// The parts of an annotation that do not change the type of its options. Times in milliseconds.
struct LockConstants {
  ConstantText key{};
  ParsedConstant parsed{};
  KeySource source = KeySource::text;
  LockType type = LockType::REENTRANT;
  Reentry reentry = Reentry::count;
  bool says_type = false;
  bool says_wait = false;
  bool says_lease = false;
  bool says_timeout = false;
  bool says_unavailable = false;
  bool says_lost = false;
  bool says_hold_for = false;
  bool says_unconfirmed = false;
  bool raises_unconfirmed = false;
  bool fenced = false;
  std::int64_t wait = 0;
  std::int64_t lease = 0;
  std::int64_t hold_for = 0;
  std::int64_t held_at_most = 0;  ///< 0: without a limit
  std::int64_t lock_delay = 0;    ///< 0: none
  std::int64_t cache = -1;        ///< -1: that of Options
  int permits = 0;                ///< 0: a lock
  int permits_taken = 1;
  ConstantText name{};  ///< empty: the function's name
  const Locks* locks = nullptr;
};

consteval std::int64_t constant_wait(Wait wait) {
  return wait.is_forever() ? no_limit : wait.length().count();
}
consteval std::int64_t constant_lease(Lease lease) {
  return lease.is_watchdog() ? no_limit : lease.length(std::chrono::milliseconds(0)).count();
}

template <class... Terms>
consteval LockConstants lock_constants(LockConstants said, const Terms&... terms) {
  if constexpr (check_terms<Terms...>()) {
    const LockTerms made = make_terms(terms...);
    said.type = made.type;
    said.says_type = made.says_type;
    said.says_wait = made.says_wait;
    said.says_lease = made.says_lease;
    said.wait = constant_wait(made.wait);
    said.lease = constant_lease(made.lease);
    said.held_at_most = made.lease.held_at_most().count();
    said.lock_delay = made.lease.lock_delay().count();
    if (made.lease.cache()) said.cache = made.lease.cache()->count();
  }
  return said;
}

consteval std::string number_text(std::int64_t number) {
  std::string digits;
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + number % 10));
    number /= 10;
  } while (number > 0);
  return digits;
}

/// "30s", in the largest unit without a fraction.
consteval std::string duration_text(std::int64_t milliseconds) {
  if (milliseconds % 3'600'000 == 0 && milliseconds != 0) {
    return number_text(milliseconds / 3'600'000) + "h";
  }
  if (milliseconds % 60'000 == 0 && milliseconds != 0) {
    return number_text(milliseconds / 60'000) + "min";
  }
  if (milliseconds % 1'000 == 0) return number_text(milliseconds / 1'000) + "s";
  return number_text(milliseconds) + "ms";
}

/// Annotations with equal terms share their text.
template <bool says_type, LockType type, bool says_wait, std::int64_t wait, bool says_lease,
          std::int64_t lease>
inline constexpr ConstantText shared_terms_text = [] {
  std::string text;
  const auto add = [&](std::string_view term) {
    if (!text.empty()) text += ", ";
    text += term;
  };
  if (says_type) {
    for (const std::meta::info known : enumerators_of(^^LockType)) {
      if (extract<LockType>(known) == type) {
        add(std::string("LockType::").append(identifier_of(known)));
      }
    }
  }
  if (says_wait) add(wait == no_limit ? std::string("latchkey::forever") : duration_text(wait));
  if (says_lease) {
    add(lease == no_limit ? std::string("latchkey::watchdog") : duration_text(lease));
  }
  return constant_text(text);
}();

/// The terms of an annotation as code writes them after the key, for `latchkey explain`:
/// "LockType::WRITE, 3s, 30s".
consteval const char* terms_text(const LockConstants& said) {
  using std::meta::reflect_constant;
  const std::meta::info text = substitute(
      ^^shared_terms_text, {
                               reflect_constant(said.says_type), reflect_constant(said.type),
                               reflect_constant(said.says_wait), reflect_constant(said.wait),
                               reflect_constant(said.says_lease), reflect_constant(said.lease)});
  return extract<ConstantText>(text).data;
}

/// The base of the annotations that latchkey itself defines.
struct AnnotationValue {};

}  // namespace detail
}  // namespace latchkey::inline v1
#pragma GCC visibility pop

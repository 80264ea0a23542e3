// The only parser of keys: for templates in code at compile time, for policy files when they are
// loaded. It does not depend on arguments, types or rendering.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <latchkey/detail/key/path_parser.hpp>
#include <latchkey/detail/key/separation.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

class Parser : PathParser {
 public:
  /// `nodes` has room for node_capacity(text.size()).
  constexpr Parser(std::string_view text, Node* nodes) : PathParser(text, nodes) {}

  constexpr Parse run() {
    if (text_.empty()) fail(SyntaxError::key_is_empty, 0, 0);
    if (text_.size() > max_template_size) fail(SyntaxError::template_is_too_long, 0, 0);
    if (failed()) return parse_;
    const bool expression = text_[0] == '\'' || text_[0] == '#';
    parse_.root = expression ? whole_expression() : whole_template();
    if (failed()) return parse_;
    Separation separation(text_, nodes_);
    if (const Index touching = separation.check(parse_.root); touching != 0) {
      fail(SyntaxError::values_with_no_separator_between, nodes_[touching].begin,
           word_length(nodes_[touching].begin));
    }
    return parse_;
  }

 private:
  static constexpr int max_depth = 32;

  constexpr Index whole_template() {
    List pieces;
    std::size_t begin = 0;
    const auto text_until = [&](std::size_t end) {
      if (end > begin) add(pieces, make(NodeKind::text, begin, end - begin));
    };
    while (!at_end()) {
      const char byte = text_[at_];
      if (byte != '{' && byte != '}') {
        ++at_;
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == byte) {
        text_until(at_ + 1);  // the first of two braces is text
        begin = at_ += 2;
      } else if (byte == '}') {
        return fail(SyntaxError::closing_brace_without_an_opening_one, at_, 1);
      } else {
        text_until(at_);
        const Index inside = placeholder();
        if (failed()) return 0;
        add(pieces, inside);
        begin = at_;
      }
    }
    text_until(at_);
    return joined(pieces);
  }

  constexpr Index placeholder() {
    const std::size_t open = at_++;
    skip_spaces();
    if (peek() == '}' && !at_end()) {
      return fail(SyntaxError::placeholder_is_empty, open, at_ + 1 - open);
    }
    if (at_end()) return fail(SyntaxError::placeholder_is_never_closed, open, text_.size() - open);
    const Index inside = expression();
    if (failed()) return 0;
    if (at_end()) return fail(SyntaxError::placeholder_is_never_closed, open, text_.size() - open);
    if (peek() == '{') return fail(SyntaxError::brace_inside_an_expression, at_, 1);
    if (peek() != '}') return fail(SyntaxError::end_of_expression_expected, at_, word_length(at_));
    ++at_;
    return inside;
  }

  constexpr Index whole_expression() {
    const Index inside = expression();
    if (!failed() && !at_end()) {
      return fail(is_brace(peek()) ? SyntaxError::brace_inside_an_expression
                                   : SyntaxError::end_of_expression_expected,
                  at_, word_length(at_));
    }
    return inside;
  }

  // expr := sum [ '?:' sum ]
  constexpr Index expression() {
    if (++depth_ > max_depth) return fail(SyntaxError::nested_too_deeply, at_, word_length(at_));
    Index result = sum();
    if (!failed() && looking_at("?:")) {
      const std::size_t begin = at_;
      at_ += 2;
      const Index otherwise = sum();
      if (failed()) return 0;
      const Index node = make(NodeKind::alternative, begin, 2);
      nodes_[node].first = result;
      nodes_[result].next = otherwise;
      result = node;
    }
    --depth_;
    return result;
  }

  // sum := term { '+' term }
  constexpr Index sum() {
    List terms;
    skip_spaces();
    const std::size_t begin = at_;
    do {
      if (terms.size > 0) ++at_;
      const Index one = term(terms);
      if (failed()) return 0;
      if (one != 0) add(terms, one);
      skip_spaces();
    } while (peek() == '+');
    if (!has_bytes(terms)) return fail(SyntaxError::value_is_empty_text, begin, 2);
    return joined(terms);
  }

  constexpr bool has_bytes(const List& terms) const {
    for (Index at = terms.first; at != 0; at = nodes_[at].next) {
      if (nodes_[at].kind != NodeKind::text || nodes_[at].length > 0) return true;
    }
    return false;
  }

  // term := value [ '%' integer ]. A quoted text with '' in it makes several nodes: all but the
  // last are added to `before`.
  constexpr Index term(List& before) {
    Index result = value(before);
    skip_spaces();
    while (!failed() && peek() == '%') {
      if (!takes_modulus(result)) return fail(SyntaxError::modulus_of_text, at_, 1);
      const std::size_t begin = at_++;
      skip_spaces();
      const std::size_t number_at = at_;
      if (!is_digit(peek())) return fail(SyntaxError::modulus_expected, at_, word_length(at_));
      const std::uint64_t number = integer();
      if (failed()) return 0;
      if (number == 0) return fail(SyntaxError::modulus_is_zero, number_at, at_ - number_at);
      const Index node = make(NodeKind::modulo, begin, at_ - begin);
      nodes_[node].first = result;
      nodes_[node].number = number;
      result = node;
      skip_spaces();
    }
    return result;
  }

  // Whether '%' can follow. Paths may lead to integers; binding decides that.
  constexpr bool takes_modulus(Index index) {
    Node& node = nodes_[index];
    switch (node.kind) {
      case NodeKind::name:
      case NodeKind::position: node.use = Use::integer; return true;
      case NodeKind::hash:
      case NodeKind::size:
      case NodeKind::modulo: return true;
      case NodeKind::alternative:
        return takes_modulus(node.first) && takes_modulus(nodes_[node.first].next);
      default: return false;
    }
  }

  constexpr Index value(List& before) {
    skip_spaces();
    if (peek() == '\'') return quoted(before);
    if (peek() == '(') return parenthesis(at_);
    if (is_digit(peek())) {
      const std::size_t begin = at_;
      const std::uint64_t number = integer();
      return failed() ? 0 : path(NodeKind::position, begin, number);
    }
    const bool marked = peek() == '#';
    if (marked) ++at_;
    if (is_name_start(peek())) return name_or_function(marked);
    if (marked && is_digit(peek())) return value(before);
    if (peek() == '{') {
      return fail(SyntaxError::brace_inside_an_expression, at_, 1);
    }
    return fail(SyntaxError::value_expected, at_, word_length(at_));
  }

  constexpr Index name_or_function(bool marked) {
    const std::size_t begin = at_;
    at_ += word_length(at_);
    const std::string_view name = text_.substr(begin, at_ - begin);
    skip_spaces();
    if (marked || peek() != '(') return path(NodeKind::name, begin, 0);
    const NodeKind kind = function_named(name);
    if (kind == NodeKind::text) return fail(SyntaxError::function_unknown, begin, name.size());
    const Index argument = parenthesis(at_);
    if (failed()) return 0;
    if (kind == NodeKind::size) {
      if (!is_path(nodes_[argument]))
        return fail(SyntaxError::size_takes_a_path, begin, at_ - begin);
      nodes_[argument].use = Use::size;
    }
    const Index node = make(kind, begin, name.size());
    nodes_[node].first = argument;
    return node;
  }

  static constexpr NodeKind function_named(std::string_view name) {
    if (name == "lower") return NodeKind::lower;
    if (name == "upper") return NodeKind::upper;
    if (name == "hash") return NodeKind::hash;
    if (name == "size") return NodeKind::size;
    if (name == "raw") return NodeKind::raw;
    return NodeKind::text;
  }

  constexpr Index parenthesis(std::size_t open) {
    ++at_;
    const Index inside = expression();
    if (failed()) return 0;
    if (peek() == ')' && !at_end()) return ++at_, inside;
    const bool ends = at_end() || is_brace(peek());
    if (ends) return fail(SyntaxError::parenthesis_is_never_closed, open, at_ - open);
    return fail(SyntaxError::end_of_expression_expected, at_, word_length(at_));
  }

  int depth_ = 0;
};

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop

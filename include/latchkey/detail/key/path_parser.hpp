// The lower half of the parser: paths, numbers and quoted texts.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include <latchkey/detail/key/cursor.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

class PathParser : protected Cursor {
 protected:
  using Cursor::Cursor;

  constexpr std::uint64_t integer() {
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    const std::size_t begin = at_;
    std::uint64_t number = 0;
    for (; is_digit(peek()); ++at_) {
      const auto digit = static_cast<std::uint64_t>(peek() - '0');
      if (number > (most - digit) / 10) {
        fail(SyntaxError::number_is_too_large, begin, word_length(begin));
        return 0;
      }
      number = number * 10 + digit;
    }
    return number;
  }

  // 'text' with '' for a quote: several nodes, so that each is a contiguous span of the template.
  // All but the last are added to `before`.
  constexpr Index quoted(List& before) {
    const std::size_t open = at_++;
    std::size_t begin = at_;
    for (; !at_end(); ++at_) {
      if (is_brace(peek())) return fail(SyntaxError::brace_inside_an_expression, at_, 1);
      if (peek() != '\'') continue;
      const std::size_t quote = at_++;
      if (peek() != '\'') return make(NodeKind::text, begin, quote - begin);
      // With the first of the two quotes.
      add(before, make(NodeKind::text, begin, at_ - begin));
      begin = at_ + 1;
    }
    return fail(SyntaxError::text_is_never_closed, open, text_.size() - open);
  }

  // The cursor is after the name or position.
  constexpr Index path(NodeKind kind, std::size_t begin, std::uint64_t number) {
    const Index path = make(kind, begin, word_length(begin));
    nodes_[path].number = number;
    nodes_[path].slot = parse_.path_count++;
    at_ = begin + nodes_[path].length;
    List steps;
    std::size_t end = at_;
    for (skip_spaces(); peek() == '.' || peek() == '['; skip_spaces()) {
      const Index one = peek() == '.' ? member() : bracket(path);
      if (failed()) return 0;
      add(steps, one);
      end = at_;
    }
    nodes_[path].first = steps.first;
    nodes_[path].extent = static_cast<Index>(end - begin);
    return path;
  }

 private:
  constexpr Index member() {
    ++at_;
    skip_spaces();
    if (!is_name_start(peek())) {
      return fail(SyntaxError::member_name_expected, at_, word_length(at_));
    }
    const Index step = make(NodeKind::member, at_, word_length(at_));
    at_ += nodes_[step].length;
    return step;
  }

  constexpr Index bracket(Index path) {
    const std::size_t open = at_++;
    skip_spaces();
    Index step = 0;
    if (peek() == '*') {
      if (parse_.star != 0) return fail(SyntaxError::more_than_one_star, open, 3);
      parse_.star = path;
      step = make(NodeKind::star, at_++, 1);
    } else if (peek() == '\'') {
      step = text_index();
    } else if (is_digit(peek())) {
      const std::size_t begin = at_;
      const std::uint64_t number = integer();
      step = make(NodeKind::index, begin, at_ - begin);
      nodes_[step].number = number;
    } else if (!at_end()) {
      return fail(SyntaxError::index_expected, at_, word_length(at_));
    }
    skip_spaces();
    if (!failed() && peek() != ']') {
      return fail(SyntaxError::bracket_is_never_closed, open, at_ - open);
    }
    ++at_;
    return step;
  }

  constexpr Index text_index() {
    const std::size_t begin = at_ + 1;
    List pieces;
    const Index last = quoted(pieces);
    if (failed()) return 0;
    if (pieces.size > 0) {
      // An index is one span, so a quote inside it cannot be unescaped: such entries cannot be
      // named.
      return fail(SyntaxError::quote_inside_an_index, begin, at_ - 1 - begin);
    }
    nodes_[last].kind = NodeKind::text_index;
    return last;
  }
};

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop

// The order of lock classes: edges, cycles, and the keys of one class.
// SPDX-License-Identifier: BSL-1.0
#include "locked/order_graph.hpp"

#include <algorithm>

#include <latchkey/detail/key/bytes.hpp>
#include <latchkey/detail/key/node.hpp>
#include <latchkey/detail/key/parser.hpp>
#include <latchkey/site.hpp>

#include <latchkey/detail/in_quotes.hpp>

namespace latchkey::inline v1::detail {
namespace {

/// Keeps literal text and replaces everything else by "{}".
void add_shape(std::string& shape, std::string_view key_template, const std::vector<Node>& nodes,
               std::uint16_t index) {
  const Node& node = nodes[index];
  if (node.kind == NodeKind::text) {
    shape += key_template.substr(node.begin, node.length);
  } else if (node.kind == NodeKind::join) {
    for (std::uint16_t at = node.first; at != 0; at = nodes[at].next) {
      add_shape(shape, key_template, nodes, at);
    }
  } else {
    shape += "{}";
  }
}

std::string by(const Origin& origin) {
  return in_quotes(origin.key_template) + " by " + origin.site->where();
}

}  // namespace

std::string shape_of(std::string_view key_template) {
  if (key_template.size() > max_template_size) return std::string(key_template);
  std::vector<Node> nodes(node_capacity(key_template.size()));
  const Parse parse = Parser(key_template, nodes.data()).run();
  // A key that is not a template may have invalid template syntax.
  if (parse.mistake != SyntaxError::none) return std::string(key_template);
  std::string shape;
  add_shape(shape, key_template, nodes, parse.root);
  return shape;
}

bool before_by_numbers(std::string_view left, std::string_view right) noexcept {
  std::size_t i = 0, j = 0;
  while (i < left.size() && j < right.size()) {
    if (!is_digit(left[i]) || !is_digit(right[j])) {
      if (left[i] != right[j]) {
        return static_cast<unsigned char>(left[i]) < static_cast<unsigned char>(right[j]);
      }
      ++i, ++j;
      continue;
    }
    const auto number = [](std::string_view text, std::size_t& from) {
      while (from < text.size() && text[from] == '0') ++from;
      const std::size_t begin = from;
      while (from < text.size() && is_digit(text[from])) ++from;
      return text.substr(begin, from - begin);
    };
    const std::string_view one = number(left, i), other = number(right, j);
    if (one.size() != other.size()) return one.size() < other.size();
    if (one != other) return one < other;
  }
  if (i < left.size() || j < right.size()) return i == left.size();
  return left < right;  // they differ in leading zeros only
}

std::optional<std::string> OrderGraph::add(const OrderedLock& outer, const OrderedLock& inner) {
  const std::lock_guard lock(mutex_);
  const Class from = class_of(outer);
  const Class to = class_of(inner);
  if (from == to) return within_class(from, outer, inner);
  const auto [edge, fresh] = edges_[from].try_emplace(to, Edge{outer.origin, inner.origin});
  if (!fresh) return std::nullopt;
  const std::vector<Class> back = path(to, from);
  if (back.empty()) return std::nullopt;
  return sentence(back);
}

OrderGraph::Class OrderGraph::class_of(const OrderedLock& lock) {
  return classes_
      .try_emplace({std::string(lock.place), shape_of(lock.origin.key_template)}, classes_.size())
      .first->second;
}

// Two ascending orders are accepted: by bytes (as all_of uses) and with numbers compared as
// numbers. A report is made for the pair after which neither order explains all pairs.
std::optional<std::string> OrderGraph::within_class(Class its, const OrderedLock& outer,
                                                    const OrderedLock& inner) {
  KeyOrder& order = key_orders_[its];
  order.not_by_bytes = order.not_by_bytes || inner.key < outer.key;
  order.not_by_numbers = order.not_by_numbers || before_by_numbers(inner.key, outer.key);
  if (!order.not_by_bytes || !order.not_by_numbers || std::exchange(order.reported, true)) {
    return std::nullopt;
  }
  return "two keys of one kind are taken in descending order: " + in_quotes(inner.key) + " of " +
         by(inner.origin) + ", within " + in_quotes(outer.key) + " of " + by(outer.origin) +
         "; threads that take them in different orders can wait for each other";
}

// The shortest path along edges, both ends included; empty: there is none.
std::vector<OrderGraph::Class> OrderGraph::path(Class from, Class to) const {
  std::map<Class, Class> came_from{{from, from}};
  std::vector<Class> seen{from};
  for (std::size_t index = 0; index < seen.size() && !came_from.contains(to); ++index) {
    const auto edges = edges_.find(seen[index]);
    if (edges == edges_.end()) continue;
    for (const auto& [next, edge] : edges->second) {
      if (came_from.try_emplace(next, seen[index]).second) seen.push_back(next);
    }
  }
  if (!came_from.contains(to)) return {};
  std::vector<Class> way{to};
  while (way.back() != from) way.push_back(came_from.at(way.back()));
  std::reverse(way.begin(), way.end());
  return way;
}

// `way` leads from the inner class back to the outer one: the new edge closes the cycle.
std::string OrderGraph::sentence(const std::vector<Class>& way) const {
  std::string text =
      way.size() == 2 ? "two locks are taken in both orders: " : "locks are taken in a circle: ";
  text += taken_within(way.back(), way.front());
  for (std::size_t index = 0; index + 1 < way.size(); ++index) {
    text += "; " + taken_within(way[index], way[index + 1]);
  }
  return text + "; threads that do so at once can wait for each other";
}

std::string OrderGraph::taken_within(Class outer, Class inner) const {
  const Edge& edge = edges_.at(outer).at(inner);
  return by(edge.inner) + " within " + by(edge.outer);
}

}  // namespace latchkey::inline v1::detail

// The texts of annotations, and how their keys are rendered: functions with equal parameters and
// paths share all that is compiled for it.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <meta>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <latchkey/detail/annotations/constants.hpp>
#include <latchkey/detail/annotations/function.hpp>
#include <latchkey/detail/key/arguments.hpp>
#include <latchkey/detail/key/node.hpp>
#include <latchkey/detail/key/plan.hpp>
#include <latchkey/detail/key/read.hpp>
#include <latchkey/detail/key/refusal.hpp>
#include <latchkey/detail/key/tree.hpp>
#include <latchkey/detail/locked/key_set.hpp>
#include <latchkey/detail/locked/locked_site.hpp>
#include <latchkey/detail/placed_text.hpp>
#include <latchkey/fixed_string.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// The key of an annotation, where the site has it.
template <std::meta::info Function, std::size_t Index>
consteval std::string_view annotation_key() noexcept {
  const std::string_view key = annotation_value<Function, Index>.said.key.view();
  if constexpr (Index != 0) {
    return key;
  } else {
    return {site_texts<Function>.data + site_texts<Function>.key, key.size()};
  }
}

/// The text of an annotation as the callable that LOCKED's macro makes.
template <std::meta::info Function, std::size_t Index>
struct AnnotationText {
  static constexpr const LockConstants& said = annotation_value<Function, Index>.said;

  consteval PlacedText operator()() const noexcept {
    return {said.key.view(), {}, terms_text(said)};
  }
};
template <std::meta::info Function, std::size_t Index>
struct AnnotationKeys {
  static constexpr const LockConstants& said = annotation_value<Function, Index>.said;

  consteval PlacedKeys<said.key.size> operator()() const noexcept {
    return {FixedString<said.key.size>(said.key.view()), {}, terms_text(said)};
  }
};
template <std::meta::info Function, std::size_t Index>
struct OnceText {
  consteval PlacedText operator()() const noexcept {
    return {annotation_value<Function, Index>.key.view(),
            {},
            std::define_static_string(duration_text(annotation_value<Function, Index>.period))};
  }
};

/// The path of a key, written as a key of its own, from the argument of type T at `Position`.
template <const char* Text, std::size_t Size, Use use, std::size_t Position, class T>
using PathFromArgument =
    ArgumentPath<PathTree<FixedString<Size>(std::string_view(Text, Size)), use>, false, Position,
                 T>;

/// Whether the type of a path's argument has what the path names.
template <class Path>
inline constexpr bool path_fits = false;
template <class Path, bool Counting, std::size_t Position, class T>
inline constexpr bool path_fits<ArgumentPath<Path, Counting, Position, T>> =
    read_t<typename ArgumentPath<Path, Counting, Position, T>::Start, T>::value;

/// The position among the first `count` parameters of the one that a path begins with. `count`:
/// there is none.
consteval std::size_t parameter_position(const Node& path, std::string_view key,
                                         const std::vector<std::meta::info>& parameters,
                                         std::size_t count) {
  if (path.kind == NodeKind::position) return path.number < count ? path.number : count;
  const std::string_view word = key.substr(path.begin, path.length);
  std::size_t at = 0;
  while (at < count && identifier_of(parameters[at]) != word) ++at;
  return at;
}

/// The ArgumentPath of a path, if it fits; `void` otherwise.
consteval std::meta::info find_path(const Node& path, std::string_view key,
                                    const std::vector<std::meta::info>& parameters,
                                    const std::vector<std::meta::info>& types) {
  const std::size_t at = parameter_position(path, key, parameters, types.size());
  if (at == types.size()) return ^^void;
  const std::size_t size = path_key_size(path);
  char* const text = new char[size];
  text[0] = '#';
  for (std::size_t index = 1; index < size; ++index) text[index] = key[path.begin + index - 1];
  const char* const kept = std::define_static_string(std::string_view(text, size));
  delete[] text;
  const std::meta::info found = dealias(substitute(
      ^^PathFromArgument,
      {
          std::meta::reflect_constant(kept), std::meta::reflect_constant(size),
          std::meta::reflect_constant(path.use), std::meta::reflect_constant(at), types[at]}));
  return extract<bool>(substitute(^^path_fits,
                                  {
                                      found}))
             ? found
             : ^^void;
}

/// The KeyShape of an annotation's key for the first parameters of its function, which have these
/// types. `void` if the key does not fit, or is not one template without [*], or a parameter has no
/// name: LockedKeyOf then finds out what to say or to do.
consteval std::meta::info find_key_shape(const LockConstants& said, std::meta::info function,
                                         const std::vector<std::meta::info>& types) {
  const Parse& parse = said.parsed.parse;
  if (parse.node_count == 0 || parse.star != 0) return ^^void;
  const std::vector<std::meta::info> parameters = parameters_of(function);
  for (std::size_t index = 0; index < types.size(); ++index) {
    if (!has_identifier(parameters[index])) return ^^void;
  }
  const std::string_view key = said.key.view();
  const Node* const nodes = said.parsed.nodes;
  std::vector<std::meta::info> paths;
  for (std::size_t slot = 0; slot < parse.path_count; ++slot) {
    paths.push_back(find_path(nodes[path_in(nodes, slot)], key, parameters, types));
    if (paths.back() == ^^void) return ^^void;
  }
  std::vector<std::meta::info> shape(1, substitute(^^KeyPaths, paths));
  for (std::uint16_t at = first_piece(nodes, parse.root);; at = nodes[at].next) {
    const Node& node = nodes[at];
    shape.push_back(std::meta::reflect_constant(node.kind == NodeKind::text ? text_piece
                                                : is_path(node) ? static_cast<int>(node.slot)
                                                                : other_piece));
    if (node.next == 0) break;
  }
  return substitute(^^KeyShape, shape);
}

/// The room of a site for the key of an annotation.
template <const LockConstants& said>
using SiteOfAnnotation = LockedSiteOf<said.parsed.parse.node_count + 1U>;

/// The key of an annotation that fits.
template <std::meta::info Function, std::size_t Index, class Shape>
struct AnnotatedKey {
  using Verdict = key_error::Fits;
  using Site = SiteOfAnnotation<annotation_value<Function, Index>.said>;

  static consteval LockedKey key() {
    const ParsedConstant& parsed = annotation_value<Function, Index>.said.parsed;
    LockedKey key;
    key.key = {annotation_key<Function, Index>(), parsed.nodes, parsed.parse.root};
    key.render = &Shape::render;
    key.is_one = true;
    return key;
  }
};

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop

// Reflection on a function and its annotations.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <meta>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include <latchkey/annotations/values.hpp>
#include <latchkey/aspect.hpp>
#include <latchkey/detail/annotations/constants.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1::detail {

/// The place of a function, with what of std::source_location a Site reads.
struct FunctionPlace {
  const char* file;
  const char* function;
  unsigned line_number;

  [[nodiscard]] constexpr const char* file_name() const noexcept { return file; }
  [[nodiscard]] constexpr const char* function_name() const noexcept { return function; }
  [[nodiscard]] constexpr unsigned line() const noexcept { return line_number; }
};

/// A PlacedText whose place is that of a function.
struct FunctionText {
  std::string_view text;
  FunctionPlace place;

  [[nodiscard]] constexpr const char* c_str() const noexcept { return text.data(); }
};

/// The name of one scope or function; empty if it has none.
consteval std::string own_name(std::meta::info entity) {
  if (has_template_arguments(entity)) return own_name(template_of(entity));
  if (is_function(entity) && is_operator_function(entity)) {
    return std::string("operator") += symbol_of(operator_of(entity));
  }
  if (is_function(entity) && is_conversion_function(entity)) {
    return std::string("operator ") += display_string_of(return_type_of(entity));
  }
  if (is_constructor(entity)) return own_name(parent_of(entity));
  if (is_destructor(entity)) return "~" + own_name(parent_of(entity));
  return has_identifier(entity) ? std::string(identifier_of(entity)) : std::string();
}

/// Spelled as the compiler spells a function in std::source_location: "bank::Bank::deposit()".
/// A lambda is named after its function.
consteval std::string qualified_name(std::meta::info function) {
  std::string name;
  for (std::meta::info entity = function; entity != ^^::; entity = parent_of(entity)) {
    std::string part = own_name(entity);
    const bool is_lambda = is_type(entity) && part.empty();
    if (is_lambda) name.clear();
    if (part.empty()) continue;
    if (is_function(entity)) part += "()";
    name = name.empty() ? part : part + "::" + name;
  }
  return name;
}

/// The text before the name of each function of a scope.
struct ScopeText {
  ConstantText name{};
  bool in_lambda = false;  ///< its functions are named after that of the lambda
};
template <std::meta::info Scope>
inline constexpr ScopeText scope_text = [] {
  std::string name = qualified_name(Scope);
  if (!name.empty()) name += "::";
  ScopeText text{constant_text(name)};
  for (std::meta::info entity = Scope; entity != ^^::; entity = parent_of(entity)) {
    if (is_type(entity) && own_name(entity).empty()) text.in_lambda = true;
  }
  return text;
}();

/// qualified_name in two parts, whose evaluation takes the compiler less.
struct NameParts {
  std::string_view scope;  ///< with "::", or the whole name
  std::string_view own;
};
consteval NameParts name_parts(std::meta::info function) {
  if (has_identifier(function)) {
    const ScopeText scope = extract<ScopeText>(
        substitute(^^scope_text, {
                                     std::meta::reflect_constant(parent_of(function))}));
    if (!scope.in_lambda) return {scope.name.view(), identifier_of(function)};
  }
  return {constant_text(qualified_name(function)).view(), {}};
}

/// For messages: "bank::Bank::deposit".
consteval std::string name_of_function(std::meta::info function) {
  std::string name = qualified_name(function);
  if (name.ends_with("()")) name.resize(name.size() - 2);
  return name;
}

/// The type of an annotation's value, without const.
consteval std::meta::info annotation_type(std::meta::info annotation) {
  return remove_cvref(type_of(annotation));
}

consteval bool is_lock_annotation_type(std::meta::info type) {
  return has_template_arguments(type) && template_of(type) == ^^LockAnnotation;
}
consteval bool is_lock_annotation(std::meta::info annotation) {
  return is_lock_annotation_type(annotation_type(annotation));
}

/// Whether an annotation says how a call runs: one of latchkey's own, or a user's aspect.
consteval bool is_call_annotation(std::meta::info annotation) {
  const std::meta::info type = annotation_type(annotation);
  return is_lock_annotation_type(type) ||
         (is_class_type(type) &&
          (is_base_of_type(^^AnnotationValue, type) || is_base_of_type(^^Aspect, type)));
}

/// The annotations of a function that say how a call runs, outermost first.
consteval std::vector<std::meta::info> own_call_annotations(std::meta::info function) {
  std::vector<std::meta::info> found;
  for (const std::meta::info annotation : annotations_of(function)) {
    if (is_call_annotation(annotation)) found.push_back(annotation);
  }
  return found;
}
// Without a std::vector, whose evaluation takes the compiler longer.
consteval std::size_t own_call_annotation_count(std::meta::info function) {
  std::size_t count = 0;
  for (const std::meta::info annotation : annotations_of(function)) {
    if (is_call_annotation(annotation)) ++count;
  }
  return count;
}
consteval std::meta::info own_call_annotation(std::meta::info function, std::size_t index) {
  for (const std::meta::info annotation : annotations_of(function)) {
    if (is_call_annotation(annotation) && index-- == 0) return annotation;
  }
  return {};
}

consteval bool has_same_parameters(std::meta::info one, std::meta::info other) {
  const auto ones = parameters_of(one);
  const auto others = parameters_of(other);
  if (ones.size() != others.size() || is_const(one) != is_const(other)) return false;
  for (std::size_t index = 0; index < ones.size(); ++index) {
    if (type_of(ones[index]) != type_of(others[index])) return false;
  }
  return true;
}

/// Whether a member function overrides a virtual one of a base class.
consteval bool overrides(std::meta::info function, std::meta::info base) {
  return is_function(base) && is_virtual(base) && !is_constructor(base) && !is_destructor(base) &&
         own_name(base) == own_name(function) && has_same_parameters(base, function);
}

/// Appends the annotated virtual functions of base classes that `function` overrides.
consteval void collect_overridden(std::meta::info function, std::meta::info type,
                                  std::vector<std::meta::info>& found) {
  const auto everything = std::meta::access_context::unchecked();
  for (const std::meta::info base : bases_of(type, everything)) {
    for (const std::meta::info member : members_of(type_of(base), everything)) {
      if (overrides(function, member) && !own_call_annotations(member).empty()) {
        found.push_back(member);
      }
    }
    collect_overridden(function, type_of(base), found);
  }
}

consteval std::vector<std::meta::info> annotated_overridden(std::meta::info function) {
  std::vector<std::meta::info> found;
  if (is_class_member(function) && !is_constructor(function) && !is_destructor(function) &&
      is_virtual(function)) {
    collect_overridden(function, parent_of(function), found);
  }
  return found;
}

/// The function whose annotations count for calls of `function`: itself, or the virtual function of
/// a base class that it overrides.
consteval std::meta::info annotated_function(std::meta::info function) {
  if (own_call_annotation(function, 0) != std::meta::info()) return function;
  const auto bases = annotated_overridden(function);
  return bases.empty() ? function : bases.front();
}

consteval std::vector<std::meta::info> call_annotations(std::meta::info function) {
  return own_call_annotations(annotated_function(function));
}

/// The names of the first parameters, separated by commas. Nothing stands for one that has no name,
/// or that two declarations name differently.
consteval std::string_view parameter_names(std::meta::info function, std::size_t count) {
  const auto parameters = parameters_of(function);
  std::size_t size = 0;
  for (std::size_t index = 0; index < count; ++index) {
    if (has_identifier(parameters[index])) size += identifier_of(parameters[index]).size();
  }
  // An array and not a std::string, whose evaluation takes the compiler longer.
  char* const names = new char[size + 2 * count];
  char* end = names;
  for (std::size_t index = 0; index < count; ++index) {
    if (index != 0) {
      *end++ = ',';
      *end++ = ' ';
    }
    if (!has_identifier(parameters[index])) continue;
    for (const char letter : identifier_of(parameters[index])) *end++ = letter;
  }
  const std::string_view all(names, static_cast<std::size_t>(end - names));
  const std::string_view kept(std::define_static_string(all), all.size());
  delete[] names;
  return kept;
}

/// Annotation `Index` of a function.
template <std::meta::info Function, std::size_t Index>
inline constexpr std::meta::info annotation_at = own_call_annotation(Function, Index);

/// Its value.
template <std::meta::info Function, std::size_t Index>
inline constexpr auto annotation_value =
    extract<typename[:annotation_type(annotation_at<Function, Index>):]>(
        annotation_at<Function, Index>);

/// The key of a function's first annotation, if that is a lock.
template <std::meta::info Function>
consteval std::string_view first_key() {
  using Kind = decltype(annotation_value<Function, 0>);
  if constexpr (requires(Kind value) { value.said.key; }) {
    return annotation_value<Function, 0>.said.key.view();
  } else {
    return {};
  }
}

/// The texts of a site, each with a zero byte behind it: the name of the function, and the key of
/// its first annotation. One array of the function, because the static string that the library
/// makes of a text has a symbol with each of its letters.
template <std::size_t Size>
struct SiteTexts {
  char data[Size]{};
  std::size_t key = 0;  ///< where the key begins

  consteval SiteTexts(const NameParts& name, std::string_view key_text) {
    char* end = data;
    const auto add = [&end](std::string_view part) {
      for (const char letter : part) *end++ = letter;
    };
    add(name.scope);
    add(name.own);
    if (!name.own.empty()) add("()");
    key = static_cast<std::size_t>(++end - data);
    add(key_text);
  }
};
template <std::meta::info Function>
inline constexpr auto site_texts = [] {
  constexpr NameParts name = name_parts(Function);
  constexpr std::string_view key = first_key<Function>();
  return SiteTexts<name.scope.size() + name.own.size() + key.size() + 4>(name, key);
}();

consteval FunctionText text_of_function(std::meta::info function, std::size_t count,
                                        const char* name) {
  const std::source_location place = source_location_of(function);
  return {parameter_names(function, count), {place.file_name(), name, place.line()}};
}

/// The names of the first `Count` parameters and the place of a function: the `Where` of its calls.
template <std::meta::info Function, std::size_t Count = parameters_of(Function).size()>
struct ParametersOf {
  static constexpr FunctionText text = text_of_function(Function, Count, site_texts<Function>.data);

  consteval FunctionText operator()() const noexcept { return text; }
};

}  // namespace latchkey::inline v1::detail
#pragma GCC visibility pop

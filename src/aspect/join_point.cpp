// JoinPoint: gives an aspect the arguments of a call by name or position.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/join_point.hpp>

#include <stdexcept>
#include <string>

#include "aspect/spelling.hpp"

namespace latchkey::inline v1 {

std::size_t JoinPoint::position_of(std::string_view name) const {
  std::size_t position = 0;
  while (position < argument_count() && argument_name(position) != name) ++position;
  return position;
}

const void* JoinPoint::find(std::size_t position, const detail::TypeTag& type) const noexcept {
  if (position >= site_->types_->count) return nullptr;
  const detail::TypeTag& own = *site_->types_->arguments[position];
  // A shared object may have its own tag of the same type; both have the same spelling.
  const bool same = &own == &type || own.spelling == type.spelling;
  return same ? arguments_[position] : nullptr;
}

void JoinPoint::mistaken(std::size_t position, const detail::TypeTag& wanted) const {
  const std::string where = std::string(name()) + " (" + std::string(site_->file()) + ":" +
                            std::to_string(site_->line()) + ")";
  if (position >= argument_count()) {
    throw std::invalid_argument(where + " has " + std::to_string(argument_count()) +
                                " arguments: there is none at position " +
                                std::to_string(position));
  }
  throw std::invalid_argument("argument " + std::to_string(position) + " of " + where + " is a " +
                              std::string(argument_type(position)) + ", not a " +
                              detail::type_text(wanted.spelling));
}

void JoinPoint::unknown(std::string_view wanted) const {
  std::string known;
  for (std::size_t i = 0; i < argument_count(); ++i) {
    if (i != 0) known += ", ";
    known += argument_name(i);
  }
  throw std::invalid_argument(std::string(name()) + " has no argument '" + std::string(wanted) +
                              "'; it has: " + (known.empty() ? "none" : known));
}

}  // namespace latchkey::inline v1

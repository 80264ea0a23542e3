// The decorated methods that policies are checked against: this program's, or another's.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <latchkey/detail/locked/site_policy.hpp>
#include <latchkey/key_schema.hpp>

namespace latchkey::inline v1::detail {

/// One LOCKED, LOCKED_BY or LOCKED_ONCE_PER of one site.
struct LockPlace {
  std::string name;    ///< Site::name()
  std::string method;  ///< Site::method()
  std::string where;   ///< Site::where()
  std::string file;
  std::size_t line = 0;
  std::string result_type;
  std::string text;    ///< the key template; LOCKED_BY: the name of the policy
  std::string said{};  ///< the text after the key in code, "LockType::READ, 3s"
  LockTraits traits{};
  std::vector<SchemaArgument> arguments{};
  PolicySlot* slot = nullptr;  ///< null: in another program
  bool alone = true;           ///< the only LOCKED or LOCKED_BY of its site
};

/// A program as a policy file sees it.
struct Program {
  std::vector<LockPlace> places;     ///< in the order of files and lines
  std::vector<std::string> schemes;  ///< those of the backends that it knows
  /// Annotated functions that nothing runs under their annotations: "Bank::pay (bank.cpp:12)".
  std::vector<std::string> unbound{};
  /// False: a test, with some of the methods that the file is about. Rules may name others, and the
  /// file may lack policies that LOCKED_BY names.
  bool is_whole = true;
};

/// The program that this code is part of.
[[nodiscard]] Program this_program();

}  // namespace latchkey::inline v1::detail

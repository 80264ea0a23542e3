// Every LOCKED of the program, which policies are matched against.
#pragma once

#include <string>
#include <vector>

#include <latchkey/locked/site_policy.hpp>
#include <latchkey/site.hpp>

namespace latchkey::detail {

struct LockPlace {
  const Site* site = nullptr;
  const SiteNote* note = nullptr;
  const LockFacts* facts = nullptr;
  bool alone = true;  ///< the only LOCKED of its site
};

/// In the order of files and lines.
[[nodiscard]] std::vector<LockPlace> lock_places();

}  // namespace latchkey::detail

// The decorated methods of another program, as written by latchkey::dump_sites.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <deque>
#include <string>
#include <vector>

#include <latchkey/detail/reflect/type_info.hpp>
#include <latchkey/key_schema.hpp>

#include "install/lock_places.hpp"

namespace latchkey::inline v1::cli {

/// Owns everything that its Program refers to. Operations on types that need a running program
/// (reading a field) are absent.
class SitesFile {
 public:
  /// Throws UsageError for a file that cannot be read or was not written by dump_sites.
  explicit SitesFile(const std::string& path);
  SitesFile(const SitesFile&) = delete;
  SitesFile& operator=(const SitesFile&) = delete;

  [[nodiscard]] const detail::Program& program() const noexcept { return program_; }

 private:
  struct Reader;

  detail::Program program_;
  std::deque<std::string> names_;
  std::vector<reflect::TypeInfo> types_;
  std::deque<std::vector<reflect::FieldInfo>> fields_;
};

}  // namespace latchkey::inline v1::cli

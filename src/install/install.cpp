// Installs the Locks that decorated calls use.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/install.hpp>

#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

#include <latchkey/default_locks.hpp>

#include "install/installation.hpp"
#include "install/policy_load.hpp"

namespace latchkey::inline v1 {
namespace {

/// Serialises loads, so that the last one to begin is the one in force.
std::mutex loading;
constinit detail::Installation* from_file = nullptr;

[[noreturn]] void throw_twice() {
  throw std::logic_error(
      "latchkey::install was called twice: the default is named once, at the start of main; say "
      ".in(locks) where a call needs other Locks, or latchkey::testing::ScopedLocks in a test");
}

}  // namespace

void install(Locks locks) {
  auto kept = std::make_unique<Locks>(std::move(locks));
  if (!detail::install_default(*kept)) throw_twice();
  static_cast<void>(kept.release());
}

void install_from(const std::string& file, Options options) {
  const std::lock_guard lock(loading);
  auto made = std::make_unique<detail::Installation>(file, options);
  // The policies come first, so that no call uses these Locks without them.
  const detail::PolicyTable* const before = made->publish();
  if (!detail::install_default(made->default_locks())) {
    detail::publish_policies(before);
    static_cast<void>(made.release());  // calls may have seen its policies
    throw_twice();
  }
  from_file = made.release();
  from_file->warn();
}

std::vector<PolicyError> check_policy_file(const std::string& file) {
  return detail::errors_of(file, detail::load_policies(file, detail::this_program()).problems);
}

void reload_policies() {
  const std::lock_guard lock(loading);
  if (from_file == nullptr) {
    throw NotConfigured(
        "latchkey::reload_policies reads again what latchkey::install_from(\"latchkey.yaml\") "
        "read: "
        "call that at the start of main");
  }
  from_file->reload();
}

}  // namespace latchkey::inline v1

// The Locks of decorated calls without `.in(...)`.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/default_locks.hpp>

#include <atomic>

#include <latchkey/error.hpp>
#include <latchkey/locks.hpp>

namespace latchkey::inline v1 {
namespace {

constinit std::atomic<const Locks*> installed{nullptr};
constinit std::atomic<const Locks*> overriding{nullptr};

}  // namespace

const Locks& default_locks() {
  if (const Locks* scoped = overriding.load(std::memory_order_acquire)) return *scoped;
  if (const Locks* locks = installed.load(std::memory_order_acquire)) return *locks;
  throw NotConfigured(
      "no Locks are installed for decorated calls: write "
      "latchkey::install(latchkey::Locks::connect(\"redis://127.0.0.1:6379\")) at the start of "
      "main (\"memory:\" locks within this process only), or .in(locks) at this LOCKED");
}

namespace detail {

bool install_default(const Locks& locks) noexcept {
  const Locks* nothing = nullptr;
  return installed.compare_exchange_strong(nothing, &locks, std::memory_order_acq_rel);
}

const Locks* overriding_locks() noexcept { return overriding.load(std::memory_order_acquire); }

const Locks* override_default(const Locks* locks) noexcept {
  return overriding.exchange(locks, std::memory_order_acq_rel);
}

}  // namespace detail
}  // namespace latchkey::inline v1

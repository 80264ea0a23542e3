// Locks and holds of the C interface.
// SPDX-License-Identifier: BSL-1.0
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include <latchkey/fence.hpp>
#include <latchkey/owner.hpp>

#include "c/acquire_request.hpp"
#include "c/errors.hpp"
#include "c/handles.hpp"

using latchkey::detail::c::AcquireRequest;
using latchkey::detail::c::guarded;
using latchkey::detail::c::options_of;
using std::chrono::milliseconds;

latchkey_locks* latchkey_open(const char* uri, const latchkey_options* options,
                              latchkey_error** error) noexcept {
  return guarded<latchkey_locks*>(error, nullptr, [&] {
    if (uri == nullptr) throw std::invalid_argument("the URI is NULL");
    auto made =
        std::make_unique<latchkey_locks>(latchkey::Locks::connect(uri, options_of(options)));
    return made.release();
  });
}

void latchkey_close(latchkey_locks* locks, int64_t drain_ms) noexcept {
  guarded(nullptr, 0, [&] {
    locks->locks.close(milliseconds(drain_ms));
    return 0;
  });
}

void latchkey_locks_free(latchkey_locks* locks) noexcept { delete locks; }

uint64_t latchkey_owner_new() noexcept { return latchkey::Owner::make().number(); }

latchkey_hold* latchkey_acquire(latchkey_locks* locks, const latchkey_request* request,
                                latchkey_error** error) noexcept {
  return guarded<latchkey_hold*>(error, nullptr, [&] {
    return std::make_unique<latchkey_hold>(AcquireRequest(request).acquire(locks->locks)).release();
  });
}

int latchkey_force_release(latchkey_locks* locks, const char* key,
                           latchkey_error** error) noexcept {
  return guarded(error, -1, [&] {
    if (key == nullptr) throw std::invalid_argument("the key is NULL");
    return locks->locks.force_release(key) ? 1 : 0;
  });
}

const char* latchkey_hold_key(const latchkey_hold* hold) noexcept { return hold->key.c_str(); }

int latchkey_hold_lost(const latchkey_hold* hold) noexcept { return hold->hold.lost() ? 1 : 0; }

int64_t latchkey_hold_remaining_ms(const latchkey_hold* hold) noexcept {
  return hold->hold.remaining().count();
}

uint64_t latchkey_hold_token(const latchkey_hold* hold, size_t index) noexcept {
  return hold->hold.fencing_token(index).value_or(0);
}

const char* latchkey_hold_fence(latchkey_hold* hold, size_t index) noexcept {
  return guarded<const char*>(nullptr, nullptr, [&]() -> const char* {
    const std::optional<latchkey::Fence> fence = hold->hold.fence(index);
    if (!fence) return nullptr;
    hold->fence = fence->text();
    return hold->fence.c_str();
  });
}

int latchkey_hold_extend(latchkey_hold* hold, int64_t lease_ms, latchkey_error** error) noexcept {
  return guarded(error, -1, [&] { return hold->hold.extend(milliseconds(lease_ms)) ? 1 : 0; });
}

int latchkey_hold_release(latchkey_hold* hold, latchkey_error** error) noexcept {
  const std::unique_ptr<latchkey_hold> taken(hold);
  return guarded(error, -1, [&] { return taken->hold.release() ? 1 : 0; });
}

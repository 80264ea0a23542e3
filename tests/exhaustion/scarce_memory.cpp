// operator new, some calls of which a test makes fail.
#include "exhaustion/scarce_memory.hpp"

#include <cstdlib>
#include <new>

namespace {
constinit thread_local std::size_t left = 0;      // calls that succeed before the first one fails
constinit thread_local std::size_t failures = 0;  // calls that fail then
constinit thread_local bool failed = false;

void fail_if_due() {
  if (failures == 0) return;
  if (left > 0) {
    --left;
    return;
  }
  --failures;
  failed = true;
  throw std::bad_alloc();
}
void* allocate(std::size_t size) {
  fail_if_due();
  if (void* const given = std::malloc(size > 0 ? size : 1)) return given;  // NOLINT
  throw std::bad_alloc();
}
void* allocate(std::size_t size, std::align_val_t alignment) {
  fail_if_due();
  const auto unit = static_cast<std::size_t>(alignment);
  if (void* const given = std::aligned_alloc(unit, (size + unit - 1) / unit * unit)) return given;
  throw std::bad_alloc();
}
// For the forms that do not throw.
template <class... Arguments>
void* allocate_or_null(Arguments... arguments) noexcept {
  try {
    return allocate(arguments...);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
}  // namespace

// NOLINTBEGIN
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate_or_null(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocate_or_null(size);
}
void* operator new(std::size_t size, std::align_val_t unit, const std::nothrow_t&) noexcept {
  return allocate_or_null(size, unit);
}
void* operator new[](std::size_t size, std::align_val_t unit, const std::nothrow_t&) noexcept {
  return allocate_or_null(size, unit);
}
void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, std::align_val_t unit) { return allocate(size, unit); }
void* operator new[](std::size_t size, std::align_val_t unit) { return allocate(size, unit); }
void operator delete(void* given) noexcept { std::free(given); }
void operator delete[](void* given) noexcept { std::free(given); }
void operator delete(void* given, std::size_t) noexcept { std::free(given); }
void operator delete[](void* given, std::size_t) noexcept { std::free(given); }
void operator delete(void* given, std::align_val_t) noexcept { std::free(given); }
void operator delete[](void* given, std::align_val_t) noexcept { std::free(given); }
void operator delete(void* given, std::size_t, std::align_val_t) noexcept { std::free(given); }
void operator delete[](void* given, std::size_t, std::align_val_t) noexcept { std::free(given); }
// NOLINTEND

namespace latchkey::tests {

void fail_allocation(std::size_t nth, std::size_t count) noexcept {
  failed = false;
  left = nth - 1;
  failures = count;
}

bool allocation_failed() noexcept {
  failures = 0;
  return failed;
}

}  // namespace latchkey::tests

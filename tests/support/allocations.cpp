// Replaces malloc, calloc and realloc of glibc by versions that count their calls.
#include "support/allocations.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LATCHKEY_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LATCHKEY_SANITIZED 1
#endif
#endif

namespace {
thread_local std::size_t count = 0;
}  // namespace

#ifndef LATCHKEY_SANITIZED
extern "C" {
void* __libc_malloc(std::size_t size);                      // NOLINT: glibc's names
void* __libc_calloc(std::size_t number, std::size_t size);  // NOLINT
void* __libc_realloc(void* old, std::size_t size);          // NOLINT

void* malloc(std::size_t size) {
  ++count;
  return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) {
  ++count;
  return __libc_calloc(number, size);
}
void* realloc(void* old, std::size_t size) {
  ++count;
  return __libc_realloc(old, size);
}
}
#endif

namespace latchkey::tests {

bool counts_allocations() noexcept {
#ifdef LATCHKEY_SANITIZED
  return false;
#else
  return true;
#endif
}

std::size_t allocations() noexcept { return count; }

}  // namespace latchkey::tests

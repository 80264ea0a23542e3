// The list of classes with annotated functions.
// SPDX-License-Identifier: BSL-1.0
#include <latchkey/detail/locked/annotated_class.hpp>

#include <algorithm>

namespace latchkey::inline v1::detail {
namespace {

/// Constant-initialised, because classes register during the dynamic initialisation of other files.
constinit std::atomic<const AnnotatedClass*> first_class{nullptr};

}  // namespace

bool register_annotated_class(AnnotatedClass& known) noexcept {
  if (known.is_listed.exchange(true, std::memory_order_relaxed)) return true;
  const AnnotatedClass* first = first_class.load(std::memory_order_relaxed);
  do {
    known.next = first;
  } while (!first_class.compare_exchange_weak(first, &known, std::memory_order_release,
                                              std::memory_order_relaxed));
  return true;
}

std::vector<std::string> unbound_functions() {
  std::vector<std::string> functions;
  const AnnotatedClass* known = first_class.load(std::memory_order_acquire);
  for (; known != nullptr; known = known->next) known->append_unbound(functions);
  std::ranges::sort(functions);
  return functions;
}

}  // namespace latchkey::inline v1::detail

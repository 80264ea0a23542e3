// Several listeners combined into one.
// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <initializer_list>
#include <vector>

#include <latchkey/listener.hpp>
#include <latchkey/options.hpp>

#pragma GCC visibility push(default)
namespace latchkey::inline v1 {

/// Passes every event to each of its listeners:
///
///     latchkey::Listeners both{&log, &metrics};
///     auto locks = latchkey::Locks::connect(uri, {.listener = &both});
///
/// They are called in the given order, on the same thread: a slow listener delays the others, a
/// listener that throws does not. They must outlive this object, or are shared with it
/// (std::shared_ptr). Null pointers are skipped.
class Listeners final : public Listener {
 public:
  Listeners(std::initializer_list<SharedOrBorrowed<Listener>> listeners);

  void on_event(const Event& event) override;
  /// True if one of the listeners returns true.
  [[nodiscard]] bool wants_everything() const noexcept override;

 private:
  std::vector<SharedOrBorrowed<Listener>> listeners_;
};

}  // namespace latchkey::inline v1
#pragma GCC visibility pop

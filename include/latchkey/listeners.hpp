// Several listeners in the place of one.
#pragma once

#include <initializer_list>
#include <vector>

#include <latchkey/listener.hpp>

namespace latchkey {

/// Tells each of its listeners everything that those Locks tell it which it was given to:
///
///     latchkey::Listeners both{&log, &metrics};
///     auto locks = latchkey::Locks::connect(uri, {.listener = &both});
///
/// In the order in which they were named, on the same thread: one that is slow delays the others,
/// one that throws does not. They outlive it. Of each a null is left out.
class Listeners final : public Listener {
 public:
  Listeners(std::initializer_list<Listener*> listeners);

  void on_event(const Event& event) override;
  /// Where one of them does.
  [[nodiscard]] bool wants_everything() const noexcept override;

 private:
  std::vector<Listener*> listeners_;
};

}  // namespace latchkey

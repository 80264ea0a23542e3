// Requests that no coordinator makes: they are waited for, or left to the space.
#include "locks/space/administration.hpp"

#include <memory>
#include <mutex>
#include <utility>

#include <latchkey/error.hpp>

#include "locks/space/lock_space.hpp"

namespace latchkey::detail {

Outcome::Kind LockSpace::administer(const Request& request) {
  auto asked = std::make_unique<Administration>();
  static_cast<Request&>(*asked) = request;
  await(asked, Clock::never());
  LockSite site{std::string(request.key), request.type, describe()};
  const Outcome& outcome = asked->outcome;
  switch (outcome.kind) {
    case Outcome::Kind::granted:
    case Outcome::Kind::gone: return outcome.kind;
    case Outcome::Kind::refused: throw BackendRefused(std::move(site), outcome.text);
    case Outcome::Kind::busy:
    case Outcome::Kind::unknown: break;
  }
  throw BackendUnavailable(std::move(site), outcome.text);
}

// Submits it and waits. False: no answer until then, and the request is the space's.
bool LockSpace::await(std::unique_ptr<Administration>& asked, Clock::time_point until) {
  asked->context = nullptr;
  asked->sent = clock_.now();
  asked->parker = &Parker::mine();
  Request* const one[] = {asked.get()};
  backend_->submit(one, *this);
  if (wait_until_answered(*asked, until)) return true;
  leave(std::move(asked));
  return false;
}

bool LockSpace::wait_until_answered(const Administration& asked, Clock::time_point until) {
  while (!asked.answered()) {
    if (until != Clock::never() && clock_.now() >= until) return false;
    drive(*asked.parker, until);
  }
  return true;
}

void LockSpace::leave(std::unique_ptr<Administration> asked) noexcept {
  Administration& left = *asked.release();
  {
    const std::lock_guard guard(closers_mutex_);
    left.next_left = left_;
    if (left_ != nullptr) left_->previous_left = &left;
    left_ = &left;
  }
  if (!left.leave()) take_back(left);
}

// Its answer has come.
void LockSpace::take_back(Administration& left) noexcept {
  {
    const std::lock_guard guard(closers_mutex_);
    (left.previous_left != nullptr ? left.previous_left->next_left : left_) = left.next_left;
    if (left.next_left != nullptr) left.next_left->previous_left = left.previous_left;
  }
  left.came_too_late(*this);
  delete &left;
}

void LockSpace::drop_left() noexcept {
  while (left_ != nullptr) delete std::exchange(left_, left_->next_left);
}

}  // namespace latchkey::detail

// Groups the waits of grants by account.
#include "waits.hpp"

#include <string_view>

namespace demo {

void Waits::on_event(const latchkey::Event& event) {
  using Kind = latchkey::Event::Kind;
  const std::lock_guard lock(mutex_);
  if (event.kind == Kind::dropped) seen_.dropped += event.count;
  if (event.kind == Kind::granted) {
    constexpr std::string_view before = "account:";
    const auto place = event.key.find(before);
    if (place == std::string::npos) return;
    const std::string id = event.key.substr(place + before.size());
    // Only the time during which another owner held the lock: a free lock needs no waiting, even on
    // a distant server.
    const auto waited = event.contended.value_or(std::chrono::nanoseconds(0));
    if (seen_.all.count() == 0 || waited > seen_.all.longest()) seen_.longest_at = id;
    seen_.by_account[id].add(waited);
    seen_.all.add(waited);
  }
  more_.notify_all();
}

void Waits::settle(std::uint64_t grants) {
  std::unique_lock lock(mutex_);
  more_.wait_for(lock, std::chrono::seconds(1),
                 [&] { return seen_.all.count() + seen_.dropped >= grants; });
}

Waits::Seen Waits::seen() const {
  const std::lock_guard lock(mutex_);
  return seen_;
}

}  // namespace demo

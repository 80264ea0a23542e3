// The one pthread_atfork registration of latchkey.
// SPDX-License-Identifier: BSL-1.0
#include "core/at_fork.hpp"
#include "core/never_destroyed.hpp"
#include "core/thread_annotations.hpp"

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <ranges>
#include <vector>

namespace latchkey::inline v1::detail {
namespace {

struct Entry {
  ForkLevel level;
  ForkParticipant* participant;
};

struct Registry {
  std::mutex mutex;
  std::vector<Entry> entries;  // highest level first; within a level the oldest first
  bool hooked = false;
};

Registry& registry() {
  // Never destroyed: the process may fork while static objects are destroyed.
  static NeverDestroyed<Registry> the;
  return the.get();
}

// The registry stays locked from prepare to parent or child, so these see the same entries as
// prepare. Participants lock their mutexes while it is locked, hence the rule in the header.
void prepare() LATCHKEY_FORK_HANDLER {
  registry().mutex.lock();
  for (const Entry& entry : registry().entries) entry.participant->prepare();
}

void in_parent() LATCHKEY_FORK_HANDLER {
  for (const Entry& entry : std::views::reverse(registry().entries)) entry.participant->parent();
  registry().mutex.unlock();
}

void in_child() LATCHKEY_FORK_HANDLER {
  for (const Entry& entry : std::views::reverse(registry().entries)) entry.participant->child();
  registry().mutex.unlock();
}

}  // namespace

void register_fork_participant(ForkLevel level, ForkParticipant& participant) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  if (!all.hooked) {
    // Never unregistered: pthread_atfork has no inverse. It fails only if memory is exhausted.
    if (::pthread_atfork(prepare, in_parent, in_child) != 0) throw std::bad_alloc();
    all.hooked = true;
  }
  const auto place =
      std::ranges::find_if(all.entries, [&](const Entry& entry) { return entry.level < level; });
  all.entries.insert(place, Entry{level, &participant});
}

void unregister_fork_participant(ForkParticipant& participant) noexcept {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.entries, [&](const Entry& entry) { return entry.participant == &participant; });
}

}  // namespace latchkey::inline v1::detail

// The embedded backend: locks within one process.
// SPDX-License-Identifier: BSL-1.0
#include "memory/memory_backend.hpp"

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/at_fork.hpp"
#include "core/small_mutex.hpp"
#include "core/thread_annotations.hpp"
#include "memory/completions.hpp"
#include "memory/inbox.hpp"
#include "memory/memory_space.hpp"

namespace latchkey::inline v1::detail {
namespace {

bool is_about_notifications(const Request& request) noexcept {
  return request.verb == Verb::subscribe || request.verb == Verb::unsubscribe;
}

class MemoryBackend final : public Backend, private ForkParticipant {
 public:
  explicit MemoryBackend(std::shared_ptr<MemorySpace> space) : space_(std::move(space)) {
    // Registered after the space: a fork then locks the shards before the inbox, as all other code
    // does.
    register_fork_participant(ForkLevel::backend, *this);
  }
  MemoryBackend(const MemoryBackend&) = delete;
  MemoryBackend& operator=(const MemoryBackend&) = delete;
  ~MemoryBackend() override {
    unregister_fork_participant(*this);
    forget_subscribers();
  }

  Capabilities capabilities() const noexcept override {
    Capabilities offered = LockTable::capabilities();
    offered.one_process = true;
    return offered;
  }

  std::string describe() const override { return "memory:" + space_->name(); }

  void submit(std::span<Request* const> requests, Sink& sink) override;
  bool answer(Request& request, Outcome& outcome, Sink& sink) override;
  bool grant_uncontended(const Request& request, Sink& /*sink*/) noexcept override {
    return space_->apply_uncontended(request);
  }
  void drive(Parker& parker, Clock::time_point until) override;
  void forget_parent() noexcept override;

  [[nodiscard]] std::size_t records() noexcept { return space_->size(); }

 private:
  /// A sink that has subscribed to a key of this backend.
  struct SinkSubscriber final : Subscriber {
    SinkSubscriber(Inbox& home, Sink& listener) noexcept : inbox(home), sink(listener) {}
    void notify(const Notification& notification) noexcept override {
      inbox.put(sink, notification);
    }
    Inbox& inbox;
    Sink& sink;
  };

  SinkSubscriber& subscriber_of(Sink& sink);
  void forget_subscribers() noexcept;
  bool deliver() noexcept;

  void prepare() noexcept LATCHKEY_FORK_HANDLER override {
    subscribers_mutex_.lock();
    inbox_.mutex().lock();
  }
  void parent() noexcept LATCHKEY_FORK_HANDLER override {
    inbox_.mutex().unlock();
    subscribers_mutex_.unlock();
  }
  void child() noexcept LATCHKEY_FORK_HANDLER override { parent(); }

  const std::shared_ptr<MemorySpace> space_;
  Completions completions_;
  Inbox inbox_;
  SmallMutex subscribers_mutex_;
  std::vector<std::unique_ptr<SinkSubscriber>>
      subscribers_;  // usually one; guarded by subscribers_mutex_
};

void MemoryBackend::submit(std::span<Request* const> requests, Sink& sink) {
  // Everything that may throw comes first, before any request is carried out.
  Completions::Batch batch(requests.size());
  const bool listens = std::any_of(requests.begin(), requests.end(), [](const Request* request) {
    return is_about_notifications(*request);
  });
  Subscriber* const subscriber = listens ? &subscriber_of(sink) : nullptr;

  Completion* completion = batch.first();
  for (Request* const request : requests) {
    completion->request = request;
    completion->sink = &sink;
    space_->apply(*request, subscriber, completion->outcome);
    completion = completion->next;
  }
  completions_.push(batch);
}

bool MemoryBackend::answer(Request& request, Outcome& outcome, Sink& sink) {
  Subscriber* subscriber = nullptr;
  if (is_about_notifications(request)) [[unlikely]] {
    subscriber = &subscriber_of(sink);
  }
  space_->apply(request, subscriber, outcome);
  return true;
}

bool MemoryBackend::deliver() noexcept {
  // This thread also delivers what a sink submits during a delivery: the thread that waits for it
  // may be parked here, and no other thread knows of it.
  bool any = completions_.deliver_mine();
  while (inbox_.deliver()) {
    any = true;
    completions_.deliver_mine();
  }
  return any;
}

void MemoryBackend::drive(Parker& parker, Clock::time_point until) {
  for (;;) {
    if (deliver()) return;
    if (completions_.deliver_others()) {
      deliver();
      return;
    }
    // This order loses no wake-up, see ParkedThreads: first enter the list, then check the queues,
    // then park. Check again after leaving the list, because a wake-up may have arrived while this
    // thread left for another reason.
    ParkedThreads::Waiter me{parker};
    inbox_.add(me);
    const bool idle = !inbox_.any() && !completions_.any();
    const bool unparked = idle && parker.park_until(space_->clock(), until);
    inbox_.remove(me);
    if (deliver() || unparked) return;
    if (idle && space_->clock().now() >= until) return;
  }
}

MemoryBackend::SinkSubscriber& MemoryBackend::subscriber_of(Sink& sink) {
  const std::lock_guard lock(subscribers_mutex_);
  for (const auto& subscriber : subscribers_) {
    if (&subscriber->sink == &sink) return *subscriber;
  }
  return *subscribers_.emplace_back(std::make_unique<SinkSubscriber>(inbox_, sink));
}

void MemoryBackend::forget_subscribers() noexcept {
  for (const auto& subscriber : subscribers_) space_->forget(*subscriber);
  subscribers_.clear();
}

void MemoryBackend::forget_parent() noexcept {
  forget_subscribers();
  completions_.drop_all();
  inbox_.drop_all();
}

}  // namespace

std::unique_ptr<Backend> make_memory_backend(std::string_view uri, const Options& options) {
  constexpr std::string_view scheme = "memory:";
  const std::string_view name = uri.substr(std::min(scheme.size(), uri.size()));
  if (!uri.starts_with(scheme) || name.starts_with('/')) {
    throw std::invalid_argument("invalid memory URI '" + std::string(uri) +
                                "'; expected \"memory:\" or \"memory:name\"");
  }
  Clock& clock = options.clock != nullptr ? *options.clock : Clock::system();
  return std::make_unique<MemoryBackend>(MemorySpace::open(name, clock));
}

std::size_t memory_records(Backend& memory_backend) {
  return dynamic_cast<MemoryBackend&>(memory_backend).records();
}

}  // namespace latchkey::inline v1::detail

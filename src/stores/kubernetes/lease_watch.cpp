// The watch of all Leases in a namespace.
// SPDX-License-Identifier: BSL-1.0
#include "stores/kubernetes/lease_watch.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "stores/kubernetes/api_reply.hpp"

namespace latchkey::inline v1::detail::kubernetes {
namespace {

/// After a watch that has ended, and after one that is forbidden.
constexpr std::chrono::seconds pause{1}, long_pause{60};
/// An object of Kubernetes has at most 1.5 MiB.
constexpr std::size_t longest_line = std::size_t{4} << 20U;
/// Without a resourceVersion: the Leases as they are, and all that follows.
constexpr const char* watch_path = "?watch=true&allowWatchBookmarks=true";

}  // namespace

void LeaseWatch::open() {
  opens_at_ = Clock::never();
  state_ = State::opening;
  stream_ = link_.open_stream(
      watch_path, [this](std::string& received) { on_data(received); },
      [this](http2::HttpEnd&& end) { on_end(std::move(end)); });
}

void LeaseWatch::on_data(std::string& received) {
  if (state_ == State::opening) {
    state_ = State::open;
    events_.on_open();
  }
  std::size_t begin = 0;
  for (std::size_t end = received.find('\n'); end != std::string::npos;
       end = received.find('\n', begin)) {
    const std::string_view line(received.data() + begin, end - begin);
    begin = end + 1;
    if (line.empty() || read_line(line)) continue;
    link_.cancel(stream_);
    return close(pause);
  }
  received.erase(0, begin);
  if (received.size() <= longest_line) return;
  link_.cancel(stream_);
  close(pause);
}

// A line that is malformed ends the watch: what follows it may be, too. The next one begins with
// the Leases as they are.
bool LeaseWatch::read_line(std::string_view line) {
  std::string why;
  const auto event = read_event(line, why);
  if (!event || event->kind == WatchEvent::Kind::failed) return false;
  if (event->kind != WatchEvent::Kind::other) events_.on_event(*event);
  return true;
}

void LeaseWatch::on_end(http2::HttpEnd&& end) {
  if (end.status == HttpStatus::forbidden) {
    close(long_pause);
    state_ = State::denied;
    return events_.on_denied(reason_of(end, {"watch", link_.name_space()}));
  }
  close(is_throttled(end) ? std::max<Clock::duration>(pause_of(end), pause) : pause);
}

void LeaseWatch::close(Clock::duration length) noexcept {
  state_ = State::closed;
  stream_ = 0;
  opens_at_ = later(clock_.now(), length);
}

void LeaseWatch::advance(Clock::time_point now) {
  if (!link_.is_up() || opens_at_ > now) return;
  open();
}

void LeaseWatch::on_link_up() { open(); }

void LeaseWatch::forget() noexcept {
  state_ = State::closed;
  stream_ = 0;
  opens_at_ = Clock::never();
}

}  // namespace latchkey::inline v1::detail::kubernetes

// Connects a transport to one server.
// SPDX-License-Identifier: BSL-1.0
#include "redis/connect/connector.hpp"

#include <poll.h>

#include <algorithm>
#include <system_error>
#include <utility>
#include <variant>

namespace latchkey::inline v1::detail::redis {

TcpConnector::TcpConnector(const RedisUri& uri, Transport& transport, Lookup::Resolver resolver)
    : uri_(uri),
      transport_(transport),
      resolver_(resolver),
      addresses_(plain_addresses(uri)),
      has_name_(addresses_.empty()) {}

Io TcpConnector::start(Clock::time_point /*now*/) {
  if (!has_name_ || (!addresses_.empty() && !outdated_)) {
    left_ = addresses_.size();
    return try_first_address();
  }
  try {
    lookup_ = std::make_unique<Lookup>(uri_, resolver_);
  } catch (const std::system_error& error) {
    return Io::broken(system_failure("look up the host", error.code().value()));
  }
  return Io::blocked();
}

Io TcpConnector::resume(Clock::time_point /*now*/) {
  if (lookup_ == nullptr) return try_others_if_broken(transport_.continue_connect());
  auto answer = lookup_->answer();
  if (!answer) return Io::blocked();
  lookup_.reset();
  if (auto* const found = std::get_if<std::vector<Address>>(&*answer)) {
    replace_addresses(std::move(*found));
  } else if (addresses_.empty()) {
    return Io::broken(std::move(std::get<Failure>(*answer)));
  }
  outdated_ = false;
  left_ = addresses_.size();
  return try_first_address();
}

// The address before the next one is the one that failed last, if any did.
void TcpConnector::replace_addresses(std::vector<Address> found) {
  const auto failed = next_ > 0
                          ? std::ranges::find(found, addresses_[(next_ - 1) % addresses_.size()])
                          : found.end();
  next_ = failed != found.end() ? static_cast<std::size_t>(failed - found.begin()) + 1 : 0;
  addresses_ = std::move(found);
}

Io TcpConnector::try_first_address() {
  --left_;
  return try_others_if_broken(
      transport_.connect(addresses_[next_ % addresses_.size()], uri_.tls_name()));
}

Io TcpConnector::try_others_if_broken(Io result) {
  while (result.kind == Io::Kind::broken) {
    ++next_;
    transport_.drop();
    // A server that rejects this client has been reached: other addresses are not tried.
    if (left_ == 0 || result.failure.permanent) {
      outdated_ = true;
      break;
    }
    --left_;
    result = transport_.connect(addresses_[next_ % addresses_.size()], uri_.tls_name());
  }
  return result;
}

void TcpConnector::cancel() noexcept {
  if (lookup_ != nullptr) {
    outdated_ = false;  // the name service is slow: the addresses that are known are tried
  } else if (transport_.is_open()) {
    distrust();
  }
  lookup_.reset();
  transport_.drop();
}

void TcpConnector::distrust() noexcept {
  ++next_;
  outdated_ = true;
}

void TcpConnector::wait_for(PollSet& set, PollSet::Source source) const {
  if (lookup_ != nullptr) return set.add(lookup_->fd(), POLLIN, source);
  set.add(transport_.fd(), transport_.wanted(), source);
}

}  // namespace latchkey::inline v1::detail::redis

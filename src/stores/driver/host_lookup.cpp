// Looks host names up on a thread.
// SPDX-License-Identifier: BSL-1.0
#include "stores/driver/host_lookup.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include <latchkey/detail/in_quotes.hpp>
#include "core/file_descriptor.hpp"
#include "core/mutex.hpp"

namespace latchkey::inline v1::detail::stores {
namespace {

/// Appends the addresses of one host. Returns why there are none.
const char* look_up(const UriEndpoint& endpoint, std::vector<HostLookup::Address>& found) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(endpoint.host.c_str(), nullptr, &hints, &list);
  if (error != 0) return ::gai_strerror(error);
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(each->ai_addr, each->ai_addrlen, text.data(), text.size(), nullptr, 0,
                      NI_NUMERICHOST) == 0) {
      found.push_back({endpoint, text.data()});
    }
  }
  ::freeaddrinfo(list);
  return nullptr;
}

HostLookup::Answer look_up_all(const std::vector<UriEndpoint>& hosts) {
  std::vector<HostLookup::Address> found;
  ConnectionFailure failure;
  for (const UriEndpoint& each : hosts) {
    if (is_plain_host(each.host)) {
      found.push_back({each, each.host});
    } else if (const char* const why = look_up(each, found)) {
      failure.text = "no address of " + in_quotes(each.host) + ": " + why;
    }
  }
  if (found.empty()) return failure;
  return found;
}

HostLookup::Answer look_up_or_fail(const std::vector<UriEndpoint>& hosts) noexcept {
  try {
    return look_up_all(hosts);
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
}

}  // namespace

bool is_plain_host(const std::string& host) noexcept {
  std::array<unsigned char, sizeof(in6_addr)> ignored{};
  return host.starts_with('/') || ::inet_pton(AF_INET, host.c_str(), ignored.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), ignored.data()) == 1;
}

struct HostLookup::Shared {
  Mutex mutex;
  std::optional<Answer> answer LATCHKEY_GUARDED_BY(mutex);
  FileDescriptor done{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};

  void give(Answer&& found) noexcept {
    const ScopedLock lock(mutex);
    answer = std::move(found);
    ::eventfd_write(done.get(), 1);
  }
};

HostLookup::HostLookup(std::vector<UriEndpoint> hosts) : shared_(std::make_shared<Shared>()) {
  if (!shared_->done.valid()) throw std::bad_alloc();
  try {
    std::thread([shared = shared_, hosts = std::move(hosts)]() noexcept {
      shared->give(look_up_or_fail(hosts));
    }).detach();
  } catch (const std::system_error& error) {
    shared_->give(ConnectionFailure{
        .permanent = false, .text = "no thread to look up the host: " + error.code().message()});
  }
}

int HostLookup::descriptor() const noexcept { return shared_->done.get(); }

std::optional<HostLookup::Answer> HostLookup::answer() {
  const ScopedLock lock(shared_->mutex);
  return std::exchange(shared_->answer, std::nullopt);
}

}  // namespace latchkey::inline v1::detail::stores

// The network addresses of a server.
// SPDX-License-Identifier: BSL-1.0
#include "redis/connect/addresses.hpp"

#include <netdb.h>
#include <sys/eventfd.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace latchkey::inline v1::detail::redis {
namespace {

struct Free {
  void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};

int look_up(const std::string& host, std::uint16_t port, int flags, std::vector<Address>& found) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  const std::unique_ptr<addrinfo, Free> owned(list);
  if (code != 0) return code;
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    if (each->ai_addrlen > sizeof(sockaddr_storage)) continue;
    Address address;
    std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
    address.size = each->ai_addrlen;
    found.push_back(address);
  }
  return 0;
}

Address unix_address(const std::string& path) {
  sockaddr_un plain{};
  plain.sun_family = AF_UNIX;
  path.copy(plain.sun_path, sizeof plain.sun_path - 1);
  Address address;
  std::memcpy(&address.storage, &plain, sizeof plain);
  address.size = sizeof plain;
  return address;
}

}  // namespace

std::vector<Address> plain_addresses(const RedisUri& uri) {
  if (uri.transport == RedisUri::Transport::unix_socket) return {unix_address(uri.path)};
  std::vector<Address> found;
  look_up(uri.endpoint.host, uri.endpoint.port, AI_NUMERICHOST, found);
  return found;
}

struct Lookup::Shared {
  FileDescriptor wake_fd{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::string host;
  std::uint16_t port = 0;
  Resolver resolver = nullptr;
  std::mutex mutex;
  std::optional<Answer> answer;

  void run() noexcept {
    Answer result;
    try {
      result = resolver(host, port);
    } catch (const std::bad_alloc&) {
      result = no_memory();
    }
    const std::lock_guard lock(mutex);
    answer = std::move(result);
    ::eventfd_write(wake_fd.get(), 1);
  }
};

Lookup::Answer Lookup::resolve(const std::string& host, std::uint16_t port) {
  std::vector<Address> found;
  const int code = look_up(host, port, AI_ADDRCONFIG, found);
  if (code != 0 || found.empty()) return resolver_failure(host, code != 0 ? code : EAI_NONAME);
  return found;
}

Lookup::Lookup(const RedisUri& uri, Resolver resolver) : shared_(std::make_shared<Shared>()) {
  if (!shared_->wake_fd.valid()) throw std::system_error(errno, std::generic_category(), "eventfd");
  shared_->host = uri.endpoint.host;
  shared_->port = uri.endpoint.port;
  shared_->resolver = resolver;
  // Detached, because to join the thread is to wait for the name server.
  std::thread([shared = shared_] { shared->run(); }).detach();
}

int Lookup::fd() const noexcept { return shared_->wake_fd.get(); }

std::optional<Lookup::Answer> Lookup::answer() {
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->answer, std::nullopt);
}

}  // namespace latchkey::inline v1::detail::redis

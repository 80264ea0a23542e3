// The other processes that use a segment, and whether they live.
// SPDX-License-Identifier: BSL-1.0
#include "host/peers.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

namespace latchkey::inline v1::detail::host {
namespace {

FileDescriptor open_fifo(const std::string& path, int access) noexcept {
  return FileDescriptor(::open(path.c_str(), access | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
}

FileDescriptor make_fifo(const std::string& path, int access, mode_t mode, gid_t group) {
  const auto require = [&](bool done, const char* what) {
    if (done) return;
    throw Unusable(std::string(what) + " '" + path +
                   "': " + std::generic_category().message(errno));
  };
  require(::mkfifo(path.c_str(), 0600) == 0, "cannot make");
  FileDescriptor fifo = open_fifo(path, access);
  require(fifo.valid(), "cannot open");
  const bool is_shared = (mode & 070) != 0;
  require(!is_shared || (::fchown(fifo.get(), static_cast<uid_t>(-1), group) == 0 &&
                         ::fchmod(fifo.get(), mode) == 0),
          "cannot give to the group");
  return fifo;
}

}  // namespace

FifoPaths::FifoPaths(const std::string& segment, std::uint64_t name) : life(segment + '.') {
  constexpr std::string_view digits = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) life += digits[(name >> shift) & 15];
  wake = life + ".wake";
  life += ".life";
}

void FifoPaths::remove() const noexcept {
  ::unlink(life.c_str());
  ::unlink(wake.c_str());
}

OwnFifos OwnFifos::make(const FifoPaths& paths, mode_t mode, gid_t group) {
  OwnFifos made;
  try {
    made.wake = make_fifo(paths.wake, O_RDWR, mode, group);
    made.life = make_fifo(paths.life, O_RDONLY, mode, group);
  } catch (...) {
    paths.remove();
    throw;
  }
  return made;
}

void OwnFifos::clear() const noexcept {
  std::array<char, 64> bytes{};
  while (::read(wake.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size())) {
  }
}

Peers::Peer& Peers::open(std::size_t slot, std::uint64_t name) {
  Peer& peer = all_[slot];
  if (peer.name == name && (peer.life.valid() || peer.is_dead)) return peer;
  peer = {};
  peer.name = name;
  peer.life = open_fifo(FifoPaths(segment_, name).life, O_WRONLY);
  peer.is_dead = !peer.life.valid() && errno == ENXIO;
  return peer;
}

bool Peers::is_dead(std::size_t slot, std::uint64_t name) {
  Peer& peer = open(slot, name);
  if (peer.is_dead || !peer.life.valid()) return peer.is_dead;
  pollfd asked{.fd = peer.life.get(), .events = 0, .revents = 0};
  peer.is_dead = ::poll(&asked, 1, 0) > 0 && (asked.revents & POLLERR) != 0;
  return peer.is_dead;
}

void Peers::wake(std::size_t slot, std::uint64_t name) noexcept {
  try {
    Peer& peer = all_[slot];
    if (peer.name != name) {
      peer = {};
      peer.name = name;
    }
    if (!peer.wake.valid()) peer.wake = open_fifo(FifoPaths(segment_, name).wake, O_RDWR);
    const char one = 1;
    if (peer.wake.valid() && ::write(peer.wake.get(), &one, 1) < 0) return;  // full: it wakes
  } catch (const std::bad_alloc&) {
    return;  // it looks by itself when its wait ends
  }
}

}  // namespace latchkey::inline v1::detail::host

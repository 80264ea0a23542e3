// Survives the loss of a mapped file's pages.
// SPDX-License-Identifier: BSL-1.0
#include "host/segment/mapping_guard.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace latchkey::inline v1::detail::host {

/// A range is never freed, as a handler may read it at any time; another guard uses it again.
struct MappingGuard::Range {
  std::atomic<bool> used = true;
  std::atomic<std::byte*> begin = nullptr;
  std::atomic<std::size_t> size = 0;  ///< 0: nothing is guarded
  std::atomic<Mark> mark = nullptr;
  std::atomic<bool> lost = false;
  Range* next = nullptr;

  static inline std::atomic<Range*> first = nullptr;

  static Range& unused() {
    for (Range* each = first.load(); each != nullptr; each = each->next) {
      if (!each->used.exchange(true)) return *each;
    }
    auto* const made = new Range;
    made->next = first.load();
    while (!first.compare_exchange_weak(made->next, made)) continue;
    return *made;
  }

  [[nodiscard]] bool contains(const void* address) const noexcept {
    const auto number = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at); };
    return number(address) - number(begin.load()) < size.load();
  }

  /// Also from two threads at once, and within itself, if the file has lost what is marked: the
  /// second time memory takes the place of memory.
  [[nodiscard]] bool replace() noexcept {
    void* const to = begin.load();
    if (!lost.exchange(true)) mark.load()(to);
    void* const memory = ::mmap(nullptr, size.load(), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    mark.load()(memory);
    return ::mremap(memory, size.load(), size.load(), MREMAP_MAYMOVE | MREMAP_FIXED, to) == to;
  }
};

struct MappingGuard::Handler {
  /// The one before.
  struct sigaction before{};

  static Handler& instance() {
    static Handler handler;
    return handler;
  }

  Handler() {
    struct sigaction action{};
    action.sa_sigaction = [](int signal, siginfo_t* info, void* context) {
      const int error = errno;
      if (!serves(*info)) instance().pass_on(signal, info, context);
      errno = error;
    };
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, &before);
  }

  static bool serves(const siginfo_t& info) noexcept {
    if (info.si_code != BUS_ADRERR) return false;
    for (Range* each = Range::first.load(); each != nullptr; each = each->next) {
      if (each->contains(info.si_addr)) return each->replace();
    }
    return false;
  }

  void pass_on(int signal, siginfo_t* info, void* context) const noexcept {
    if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
    if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
      return before.sa_handler(signal);
    }
    // The thread meets the fault again, and the system ends the process; a signal that was sent
    // would not come again by itself.
    ::signal(SIGBUS, SIG_DFL);
    if (info->si_code <= 0) ::raise(signal);
  }
};

MappingGuard::MappingGuard(void* address, std::size_t size, Mark mark) {
  Handler::instance();
  range_ = &Range::unused();
  range_->lost = false;
  range_->mark = mark;
  range_->begin = static_cast<std::byte*>(address);
  range_->size = size;
}

MappingGuard::MappingGuard(MappingGuard&& other) noexcept
    : range_(std::exchange(other.range_, nullptr)) {}

MappingGuard& MappingGuard::operator=(MappingGuard&& other) noexcept {
  std::swap(range_, other.range_);
  return *this;
}

MappingGuard::~MappingGuard() {
  if (range_ == nullptr) return;
  range_->size = 0;
  range_->used = false;
}

bool MappingGuard::has_lost_file() const noexcept { return range_ != nullptr && range_->lost; }

}  // namespace latchkey::inline v1::detail::host

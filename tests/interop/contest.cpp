// Contest: maps the file, and contends as a C++ process.
// SPDX-License-Identifier: BSL-1.0
#include "interop/contest.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>

namespace latchkey::tests {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

static_assert(Contest::Word::is_always_lock_free && sizeof(Contest::Word) == 8);

Contest::Contest() {
  const int file = ::mkostemp(path_.data(), O_CLOEXEC);
  if (file == -1) throw std::runtime_error("cannot create " + path_);
  const bool sized = ::ftruncate(file, sizeof(Words)) == 0;
  void* const mapping =
      sized ? ::mmap(nullptr, sizeof(Words), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
            : MAP_FAILED;
  ::close(file);
  if (mapping == MAP_FAILED) throw std::runtime_error("cannot map " + path_);
  words_ = new (mapping) Words{};
}

Contest::~Contest() {
  ::munmap(words_, sizeof(Words));
  ::unlink(path_.c_str());
}

std::string Contest::contend(Lock lock, std::size_t number,
                             std::chrono::microseconds inside) const {
  Contender& own = words_->contenders.at(number);
  while (words_->phase != over) {
    const auto asked = steady_clock::now();
    const std::optional<Hold> hold = lock.try_acquire(20s, 30s);
    if (!hold) return "an acquire waited for 20 s in vain";
    const auto waited = static_cast<std::uint64_t>((steady_clock::now() - asked).count());
    if (words_->phase == measured) {
      ++own.grants;
      own.longest_wait_ns = std::max<std::uint64_t>(own.longest_wait_ns, waited);
    } else {
      ++own.warm_grants;
    }
    visit(number + 1, hold->fencing_token().value_or(0), inside);
  }
  return {};
}

void Contest::visit(std::uint64_t id, std::uint64_t token, std::chrono::microseconds inside) const {
  if (words_->occupant.exchange(id) != 0) ++words_->overlaps;
  const std::uint64_t seen = words_->updates;
  if (token != 0 && token <= words_->last_token) ++words_->stale_tokens;
  if (token != 0) words_->last_token = token;
  // sleeps: this is the time inside the lock
  if (inside > 0us) std::this_thread::sleep_for(inside);
  words_->updates = seen + 1;
  if (words_->occupant.exchange(0) != id) ++words_->overlaps;
}

}  // namespace latchkey::tests

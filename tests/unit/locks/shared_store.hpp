// A backend for one key. A forked child shares its store with the parent, as with a server.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <new>

#include <latchkey/simple_backend.hpp>

namespace latchkey::tests {

/// Who holds: one word of memory that fork does not copy.
class SharedWord {
 public:
  SharedWord()
      : word_(new(::mmap(nullptr, sizeof(Word), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                         -1, 0)) Word(0)) {}
  SharedWord(const SharedWord&) = delete;
  SharedWord& operator=(const SharedWord&) = delete;
  ~SharedWord() { ::munmap(word_, sizeof(Word)); }

  [[nodiscard]] std::atomic<std::uint64_t>& operator*() const noexcept { return *word_; }

 private:
  using Word = std::atomic<std::uint64_t>;
  Word* word_;
};

/// Without leases: a hold ends with its release.
class SharedStore final : public SimpleBackend {
 public:
  explicit SharedStore(const SharedWord& word) : holder_(*word) {}
  [[nodiscard]] std::string describe() const override { return "shared"; }

 protected:
  Outcome acquire(const Request& request) override {
    std::uint64_t seen = 0;
    const std::uint64_t mine = number_of(request);
    const bool taken = holder_.compare_exchange_strong(seen, mine) || seen == mine;
    return taken ? granted() : busy();
  }
  Outcome renew(const Request& request) override {
    return granted_if(holder_ == number_of(request));
  }
  Outcome release(const Request& request) override {
    std::uint64_t mine = number_of(request);
    return granted_if(holder_.compare_exchange_strong(mine, 0));
  }

 private:
  static std::uint64_t number_of(const Request& request) {
    return request.id.space[0] ^ (request.id.space[1] + request.id.number);
  }

  std::atomic<std::uint64_t>& holder_;
};

}  // namespace latchkey::tests

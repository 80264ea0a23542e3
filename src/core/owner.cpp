// Owner numbers: one counter, never reused.
#include <latchkey/owner.hpp>

#include <atomic>

namespace latchkey {
namespace {

std::uint64_t next_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

Owner Owner::this_thread() noexcept {
  thread_local const std::uint64_t number = next_number();
  return Owner(number);
}

Owner Owner::make() noexcept { return Owner(next_number()); }

}  // namespace latchkey

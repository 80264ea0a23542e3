// Asks the backend for what `latchkey top` shows, within a budget.
// SPDX-License-Identifier: BSL-1.0
#include "cli/top/sampler.hpp"

#include <algorithm>
#include <utility>

#include <latchkey/error.hpp>

#include "cli/look/inspect_each.hpp"

namespace latchkey::inline v1::cli {
namespace {

/// How many awaited keys one page lists: more rows are not worth what they cost the server.
constexpr std::uint32_t most_awaited_keys = 1'000;
/// How many locks are queried each second: about 0.3 % of a core of a Redis server.
constexpr std::uint64_t inspections_per_second = 100;
/// How many keys that are waited for are listed each second, at about the same cost.
constexpr std::uint64_t awaited_per_second = 500;
/// A refusal may pass, as when a permission is granted later: the list is queried again after 10 s.
constexpr std::uint64_t cost_of_refusal = 10 * awaited_per_second;
constexpr std::chrono::milliseconds first_burst{1'000};
/// A sample ends after this time, so that the screen shows what it has found.
constexpr std::chrono::milliseconds longest_scan{200};

}  // namespace

Sampler::Sampler(Locks locks, const TopOptions& options)
    : locks_(std::move(locks)),
      options_(options),
      scan_(locks_, options.pattern, options.scan.most()),
      scan_pacer_(options.scan.rate, first_burst, std::chrono::steady_clock::now()),
      inspect_pacer_(inspections_per_second, first_burst, std::chrono::steady_clock::now()),
      awaited_pacer_(awaited_per_second, first_burst, std::chrono::steady_clock::now()) {}

ListPage Sampler::all_awaited() {
  ListPage all;
  do {
    ListPage page = locks_.list_awaited(options_.pattern, all.next, most_awaited_keys);
    all.names.insert(all.names.end(), page.names.begin(), page.names.end());
    all.waiters.insert(all.waiters.end(), page.waiters.begin(), page.waiters.end());
    all.total += page.total;
    all.next = page.next;
  } while (all.next != ListCursor{});
  return all;
}

// The cost grows with the number of keys that are waited for. A backend that cannot list them still
// has locks to show.
std::optional<ListPage> Sampler::query_awaited(TimePoint now) {
  if (awaited_pacer_.available(now) == 0) return std::nullopt;
  try {
    ListPage all = all_awaited();
    awaited_pacer_.spend(std::max<std::uint64_t>(all.total, 1));
    knows_waiters_ = true;
    return all;
  } catch (const BackendRefused&) {
    awaited_pacer_.spend(cost_of_refusal);
    knows_waiters_ = false;
    return std::nullopt;
  }
}

void Sampler::query_keys(Sample& sample, TimePoint now) {
  sample.awaited = query_awaited(now);
  sample.knows_waiters = knows_waiters_;
  continue_scan(sample, now);
}

void Sampler::continue_scan(Sample& sample, TimePoint now) {
  const TimePoint end = now + longest_scan;
  for (std::uint64_t budget = scan_pacer_.available(now);
       budget > 0 && !scan_.ended() && std::chrono::steady_clock::now() < end;) {
    const std::vector<std::string> keys = scan_.next(budget);
    sample.found.insert(sample.found.end(), keys.begin(), keys.end());
    const std::uint64_t cost = std::min(budget, Scan::page_size);
    scan_pacer_.spend(cost);
    budget -= cost;
  }
  sample.progress = scan_.progress();
  sample.scan_ended = scan_.ended();
  sample.scan_complete = scan_.complete();
  if (scan_.ended()) scan_ = Scan(locks_, options_.pattern, options_.scan.most());
}

std::size_t Sampler::inspections(TimePoint now) { return inspect_pacer_.available(now); }

void Sampler::query_state(Sample& sample, std::span<const std::string> keys) {
  inspect_pacer_.spend(keys.size());
  // One that is refused is not a lock, or not for this user: it stays without a state.
  sample.infos = inspect_each(locks_, keys, [](std::string_view) {});
  // A holder, and a place in the queue, costs about a tenth of a query.
  for (const LockInfo& info : sample.infos) {
    inspect_pacer_.spend((info.holders.size() + info.queue.size()) / 10);
  }
}

}  // namespace latchkey::inline v1::cli

// The random draws of the threads of a worker: requests, lock types and lengths of visits.
// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <chrono>
#include <span>

#include "chaos/worker/workload.hpp"

namespace latchkey::chaos {

using namespace std::chrono_literals;

LockType Workload::draw_type(std::uint32_t key) {
  const LockType type = draw_usual_type(key);
  return place_.plain || (place_.types & bit_of(type)) == 0 ? LockType::REENTRANT : type;
}

LockType Workload::draw_usual_type(std::uint32_t key) {
  using enum LockType;
  static constexpr std::array readers{READ, READ, READ, WRITE};
  static constexpr std::array plain{REENTRANT, FAIR, FENCED};
  static constexpr std::array guarded{READ, READ, WRITE, FENCED};
  static constexpr std::array all{REENTRANT, FAIR, FENCED, READ, WRITE};
  const auto one_of = [&](std::span<const LockType> types) {
    return types[random_() % types.size()];
  };
  if (place_.redisson) return redisson_type(key, random_(), shared_.loses_tokens);
  switch (key) {
    case 1:
    case 6: return FENCED;
    case 2: return one_of(readers);
    case 3: return FAIR;
    case 4: return one_of(plain);
    case 5: return one_of(guarded);
    case 7: return one_of(all);
    case semaphore_key: return PERMIT;
    default: return REENTRANT;
  }
}

std::size_t Workload::draw_allocation(const Visit& visit) {
  return visit.lack == Lack::memory ? 1 + random_() % 12 : 0;
}

// After another process has asked for a key, nothing is kept for a second, and nothing becomes idle
// while a thread of the process waits. So one thread of each worker has a key for which others ask
// seldom.
void Workload::draw_key(Request& request) {
  using enum LockType;
  static constexpr std::array<std::uint32_t, 4> own{1, 5, 6, 7}, shared{2, 3, 4, semaphore_key};
  static constexpr std::array types{FENCED, WRITE, FENCED, REENTRANT};
  const bool usual = !place_.idle || is_hot() || random_() % 1'024 == 0;
  if (!usual && place_.thread == hot_threads) {
    request.key = own[place_.worker % own.size()];
    request.type = types[place_.worker % types.size()];
    // Many calls in a row, because a call of another type gives an idle lock back.
    if (random_() % 256 == 0) reads_ = !reads_;
    if (reads_ && request.type == WRITE) request.type = READ;
    return;
  }
  if (!usual) {
    request.key = shared[random_() % shared.size()];
  } else if (place_.plain) {
    request.key = place_.thread % 2;
  } else if (!is_hot()) {
    const std::uint32_t keys = abilities_.permits ? key_count - 1 : semaphore_key - 1;
    request.key = static_cast<std::uint32_t>(1 + random_() % keys);
  }
  request.type = draw_type(request.key);
}

Request Workload::draw_request() {
  Request request;
  draw_key(request);
  static constexpr std::array<Lease, 3> leases{400ms, 1'200ms, watchdog};
  request.lease = place_.plain ? Lease(400ms) : leases[random_() % leases.size()];
  // Redisson renews a lock without reporting its loss, so nobody could say until when it is held.
  if (place_.redisson && request.lease.is_watchdog()) request.lease = 400ms;
  switch (random_() % 10) {
    case 0: request.wait = 0ms; break;
    case 1: request.wait = 3s; break;
    case 2: request.wait = forever; break;
    case 3:
    case 4: request.wait = 1s; break;
    default: request.wait = 30ms; break;
  }
  if (is_hot() || (place_.redisson && request.wait.is_forever())) request.wait = 3s;
  return request;
}

// A key that one visitor at a time holds, and a lease that is renewed: nothing else ends the visit.
Request Workload::draw_request_for(Wish wish) {
  Request request;
  do {
    request.key = static_cast<std::uint32_t>(1 + random_() % (semaphore_key - 1));
    request.type = draw_type(request.key);
  } while (request.type == LockType::READ);
  request.wait = 1s;
  if (wish == Wish::hang) {
    request.lease = watchdog.held_at_most(std::chrono::milliseconds(600 + random_() % 1'400));
  }
  return request;
}

// Most visits are short. Some last until the visitor is told that it has lost the lock: above all
// those with a short lease that follow a long visit, because they may have taken a hold over whose
// lease was running out. Keys are held by long visits for half of the time, so that faults meet
// holders.
Nanos Workload::draw_dwell(const Visit& visit) {
  const auto one_in = [&](std::uint64_t count) { return random_() % count == 0; };
  const auto up_to = [&](Nanos length) {
    return static_cast<Nanos>(random_() % static_cast<std::uint64_t>(length));
  };
  if (visit.wish != Wish::nothing) return 3'000 * millisecond;
  if (abilities_.long_visits) return draw_long_dwell(visit);
  if (one_in(place_.plain ? 2 : is_hot() ? 4'000 : 1'000)) return 2 * visit.lease;
  if (is_hot()) return one_in(2) ? 0 : up_to(200'000);
  const bool waited_long = visit.entered - visit.called > 250 * millisecond;
  if (waited_long && visit.lease < 1'000 * millisecond && one_in(20)) return 2 * visit.lease;
  if (one_in(400)) return up_to(visit.lease);
  if (one_in(300)) return up_to(300 * millisecond);
  if (one_in(60)) return up_to(20 * millisecond);
  return up_to(200'000);
}

// To listen costs two commands, so short visits do not.
bool Workload::listens(const Visit& visit, Nanos length) {
  if (visit.wish != Wish::nothing) return visit.wish == Wish::listener;
  return abilities_.wishes && length >= 20 * millisecond && random_() % 2 == 0;
}

// Hot threads leave the key to the other processes, whose shares the judge compares.
Nanos Workload::draw_long_dwell(const Visit& visit) {
  if (random_() % (is_hot() ? 20 : 8) == 0) return 2 * visit.lease;
  const Nanos most = is_hot() ? millisecond : random_() % 2 == 0 ? 20 * millisecond : visit.lease;
  return static_cast<Nanos>(random_() % static_cast<std::uint64_t>(most));
}

}  // namespace latchkey::chaos

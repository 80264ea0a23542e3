// A quorum as one backend: what each server may have of a hold, and when it is released there.
// SPDX-License-Identifier: BSL-1.0
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "backend/verbs.hpp"
#include "quorum/quorum_backend.hpp"

namespace latchkey::inline v1::detail::quorum {

void QuorumBackend::ask_servers(Operation& one, Later& later) noexcept {
  bool any_vote = false;
  for (std::size_t server = 0; server < servers_.size(); ++server) {
    if (auto vote = vote_without_asking(one, server)) {
      one.sub_requests[server].replied = any_vote = true;
      one.ballot.vote(server, *std::move(vote));
      continue;
    }
    if (!one.at_gate.empty()) start(one.at_gate[2 * server], later);
    start(one.sub_requests[server], later);
    if (!one.at_gate.empty()) start(one.at_gate[2 * server + 1], later);
  }
  if (!any_vote) return;
  decide(one, later);
  end_if_done(one, later);
}

// A server that is the same as another has no vote. No release is sent where nothing can be held,
// or where one is repeated already. The reasons are short enough to need no memory.
std::optional<Outcome> QuorumBackend::vote_without_asking(const Operation& one,
                                                          std::size_t server) noexcept {
  Outcome vote;
  if (is_release(one.verb)) {
    const Copy& copy = (*one.copies)[server];
    if (copy.may_exist() && !copy.repeating) return std::nullopt;
    if (copy.may_exist()) {
      vote.reason = "it is repeated already";
    } else {
      vote.kind = Outcome::Kind::gone;
    }
    return vote;
  }
  if (repeated_[server]) {
    vote.reason = "it is another";
  } else if (one.verb == Verb::acquire && is_suspended(server)) {
    vote.reason = "it is silent";
  } else {
    return std::nullopt;
  }
  vote.never_ran = true;
  return vote;
}

// A server that was too late for so many decisions without a single reply gets one acquire a
// second. More acquires would each leave something to be released, and nothing bounds their number.
bool QuorumBackend::is_suspended(std::size_t server) noexcept {
  constexpr unsigned most_missed = 1'000;
  if (slow_[server] < most_missed) return false;
  const Clock::time_point now = clock_.now();
  if (now < probe_at_[server]) return true;
  probe_at_[server] = latchkey::later(now, std::chrono::seconds(1));
  return false;
}

Copy* QuorumBackend::copy_of(const SubRequest& sub_request) noexcept {
  using Part = SubRequest::Part;
  const bool of_hold = sub_request.part == Part::main || sub_request.part == Part::undo;
  const auto& copies = sub_request.of->copies;
  return of_hold && copies != nullptr ? &(*copies)[sub_request.server] : nullptr;
}

void QuorumBackend::note_reply(const SubRequest& sub_request, const Outcome& outcome) noexcept {
  Copy* const copy = copy_of(sub_request);
  if (copy == nullptr) return;
  if (sub_request.verb == Verb::acquire) {
    --copy->acquiring;
    copy->possible = copy->possible || !outcome.never_ran;
  }
  if (is_release(sub_request.verb)) copy->repeating = false;
}

// If the reply to the acquire is still to come and says that it never ran, the next reply to the
// release ends its repetitions.
void QuorumBackend::repeat_later(SubRequest& sub_request) noexcept {
  const Clock::time_point now = clock_.now();
  Copy& copy = *copy_of(sub_request);
  if (now >= sub_request.repeat_until || !copy.may_exist()) return;
  copy.repeating = true;
  sub_request.stage = SubRequest::Stage::to_repeat;
  ++sub_request.of->open;
  repeats_[sub_request.server].add(sub_request, now);
}

void QuorumBackend::repeat_releases(Later& later) noexcept {
  const Clock::time_point now = clock_.now();
  for (std::size_t server = 0; server < servers_.size(); ++server) {
    ReleaseBacklog& backlog = repeats_[server];
    if (now < backlog.due()) continue;
    backlog.drop_expired(now, [&](SubRequest& expired) { end_repetition(expired, later); });
    repeat_releases(server, 1, later);
  }
}

void QuorumBackend::repeat_releases(std::size_t server, std::size_t most, Later& later) noexcept {
  const Clock::time_point now = clock_.now();
  while (most > 0 && !repeats_[server].empty()) {
    SubRequest& release = repeats_[server].take(now);
    if (now >= release.repeat_until || !copy_of(release)->may_exist()) {
      end_repetition(release, later);
      continue;
    }
    release.stage = SubRequest::Stage::idle;
    --release.of->open;
    start(release, later);
    --most;
  }
}

void QuorumBackend::end_repetition(SubRequest& sub_request, Later& later) noexcept {
  Operation& one = *sub_request.of;
  sub_request.stage = SubRequest::Stage::idle;
  copy_of(sub_request)->repeating = false;
  --one.open;
  end_wait_for(sub_request, later);
  end_if_done(one, later);
}

}  // namespace latchkey::inline v1::detail::quorum

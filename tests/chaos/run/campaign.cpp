// A run: rounds of faults, each of which is judged.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/run/campaign.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include "chaos/judge/excuses.hpp"
#include "chaos/run/porcupine.hpp"
#include "chaos/sort_stably.hpp"

namespace latchkey::chaos {
namespace {

void sleep_until(Nanos time) {
  for (Nanos left = time - now(); left > 0; left = time - now()) {
    ::poll(nullptr, 0, static_cast<int>(left / millisecond + 1));
  }
}

PlanSize plan_size(const Settings& settings) {
  if (settings.client == Client::latchkey) return {.workers = settings.workers, .keys = key_count};
  return {.workers = settings.workers, .keys = plain_keys, .calm_ms = 200, .span_ms = 4'000};
}

std::vector<FaultKind> kinds_of(const Deployment& deployment) {
  std::vector<FaultKind> kinds = all_kinds();
  std::erase_if(kinds, [&](FaultKind kind) { return !deployment.has(kind); });
  // They are done to one worker of four, and each to one of its tools.
  for (const FaultKind kind : all_kinds()) {
    if (is_of_tool(kind) && deployment.has(kind)) kinds.insert(kinds.end(), 3, kind);
  }
  return kinds;
}

/// The part of the log about a visit that listens, or that a fault has asked for.
std::string wishes(const History& history, const Visit& visit) {
  std::string text;
  if (visit.listens) text += "listens ";
  if (visit.asked != 0) text += "asked " + at(history, visit.asked) + ' ';
  if (visit.limit != 0) text += "limit " + std::to_string(visit.limit / millisecond) + " ms ";
  if (visit.hung) text += visit.limit_named ? "hung, and was told of the limit " : "hung ";
  return text;
}

/// The kinds of faults that show the defect of `client`; empty: all kinds.
std::vector<FaultKind> kinds_for(Client client) {
  switch (client) {
    case Client::latchkey: return {};
    case Client::no_lock:
    case Client::reply_lease: return {FaultKind::link_slow};
    case Client::thread_id: return {FaultKind::link_late_delivery};
    case Client::never_lost: return {FaultKind::client_stop_long};
  }
  return {};
}

}  // namespace

Campaign::Campaign(const Settings& settings, std::filesystem::path folder)
    : settings_(settings),
      folder_(std::move(folder)),
      deployment_(make_deployment(settings.deployment)),
      workers_({settings.workers, settings.threads, settings.without}, settings.client,
               *deployment_, settings.seed, folder_),
      injector_(*deployment_, workers_),
      size_(plan_size(settings)) {
  workers_.state().first_token = deployment_->first_token();
}

Violations Campaign::run() {
  const Nanos end = now() + std::chrono::nanoseconds(settings_.length).count();
  Violations found;
  for (std::uint64_t round = 0; found.empty() && (round == 0 || now() < end); ++round) {
    const Nanos began = now();
    const std::uint64_t calls = totals_.calls();
    const std::uint64_t seed = seed_of_round(settings_.seed, round);
    try {
      found = run_round(seed);
    } catch (const std::exception&) {
      std::printf("round %llu, seed %llu: not judged\n", static_cast<unsigned long long>(round),
                  static_cast<unsigned long long>(seed));
      throw;
    }
    std::printf("round %llu, seed %llu: %zu faults, %llu acquires, %.1f s, %s\n",
                static_cast<unsigned long long>(round),
                static_cast<unsigned long long>(seed_of_last_round_), plan_.size(),
                static_cast<unsigned long long>(totals_.calls() - calls),
                static_cast<double>(now() - began) / 1e9,
                found.empty() ? "no violation" : "VIOLATIONS");
    std::fflush(stdout);
  }
  if (!found.empty()) return found;
  if (const std::string failed = workers_.end(); !failed.empty()) {
    found.push_back({"a worker does not end as it should", failed});
  }
  return found;
}

void Campaign::draw_plan(std::uint64_t seed) {
  std::vector<FaultKind> kinds = kinds_for(settings_.client);
  if (!settings_.kind.empty()) {
    kinds = kinds_of(*deployment_);
    std::erase_if(kinds,
                  [&](FaultKind kind) { return !is_chosen(traits(kind).name, settings_.kind); });
    if (kinds.empty()) throw std::invalid_argument("no kind of fault is '" + settings_.kind + "'");
  }
  plan_ = kinds.empty() ? draw_faults(seed, size_, kinds_of(*deployment_))
                        : draw_faults_of(seed, size_, kinds, 12);
  std::erase_if(plan_, [&](const PlannedFault& fault) { return !deployment_->suits(fault); });
  leave_out(plan_, settings_.only, settings_.without);
}

Violations Campaign::run_round(std::uint64_t seed) {
  seed_of_last_round_ = seed;
  draw_plan(seed);
  History history{.workers = settings_.workers, .threads = settings_.threads, .keys = size_.keys};
  history.absent = settings_.without;
  history.last_tokens = last_tokens_;
  history.limits = deployment_->limits();
  if (settings_.client != Client::latchkey) history.limits.lateness = 0;  // they wait as they like
  for (std::uint32_t worker = 0; worker < settings_.workers; ++worker) {
    const WorkerKind kind = deployment_->worker_kind(worker);
    if (kind == WorkerKind::redisson) history.foreign.push_back(worker);
    if (kind == WorkerKind::coroutines) history.coroutines.push_back(worker);
  }
  workers_.state().loses_tokens = loses_data(plan_);
  stalls_.take();
  if (const std::string late = workers_.run(); !late.empty()) {
    return {{"a worker does not start", late}};
  }
  history.began = now();
  history.calm = history.began + size_.calm_ms * millisecond;
  inject(history);
  history.healed = now();
  const bool healed = await_healing(history);
  history.ended = now();
  if (!healed) workers_.save_stacks();
  const std::string hung = workers_.rest(history.limits.hang_of_key);
  if (healed && !hung.empty()) workers_.save_stacks();
  note_surprise(history);
  history.visits = workers_.visits();
  history.stalls = stalls_.take();
  Violations found = judge(history);
  if (!hung.empty()) found.push_back({"hang: a call does not end", hung});
  const std::string crashed = workers_.take_crashes();
  if (!crashed.empty()) found.push_back({"a worker ended by itself", crashed});
  try {
    look_further(history, hung.empty(), found);
  } catch (const std::exception& error) {
    found.push_back({"the campaign could not look for more", error.what()});
  }
  totals_.add(history);
  note_tokens(history);
  if (!found.empty()) write_log(history, found);
  return found;
}

void Campaign::look_further(const History& history, bool rests, Violations& found) {
  if (!settings_.porcupine.empty()) {
    judge_linearizability(settings_.porcupine, folder_, history, found);
    totals_.note_checked_history();
  }
  if (rests) leftovers_.judge(*deployment_, workers_, found);
}

// Begins and ends faults in the order of their times. While the sentinels elect a master, the rest
// of the plan waits: faults keep their lengths and distances.
void Campaign::inject(History& history) {
  struct Step {
    Nanos at;
    std::size_t fault;
    bool begins;
  };
  std::vector<Step> steps;
  for (std::size_t index = 0; index < plan_.size(); ++index) {
    const PlannedFault& planned = plan_[index];
    const Nanos at = history.began + planned.at_ms * millisecond;
    steps.push_back({at, index, true});
    steps.push_back({at + planned.length_ms * millisecond, index, false});
    history.faults.push_back({.kind = planned.kind,
                              .worker = planned.worker,
                              .key = is_of_holder(planned.kind) ? no_key : planned.key,
                              .strength = planned.strength,
                              .excuses = traits(planned.kind).excuses});
    // A tool that gives up while it may not leave the queue ends all the same.
    const bool has_tools = settings_.deployment == DeploymentKind::tool;
    const bool abandons = planned.kind == FaultKind::client_kill || is_of_tool(planned.kind) ||
                          traits(planned.kind).has(may_forget) ||
                          (has_tools && planned.kind == FaultKind::forbidden_command);
    if (abandons) leftovers_.note_abandoned_places();
  }
  sort_stably(steps, &Step::at);
  Nanos late = 0;
  for (const Step& step : steps) {
    sleep_until(step.at + late);
    const Nanos since = now();
    Fault& fault = history.faults[step.fault];
    (step.begins ? fault.begins : fault.ends) = now();
    if (step.begins) {
      fault.thread = injector_.begin(plan_[step.fault]);
    } else {
      injector_.end(plan_[step.fault], fault);
    }
    (step.begins ? fault.begun : fault.ended) = now();
    if (!step.begins) fault.excuses = deployment_->excuses(plan_[step.fault]);
    late += now() - since;
  }
  sleep_until(history.calm);  // for a plan without faults
}

bool Campaign::await_healing(const History& history) {
  if (settings_.client != Client::latchkey) return true;  // no queue, so threads may starve
  const Nanos length = history.limits.hang_of_key + 1'000 * millisecond;
  const auto is_over = [&] {  // who had no processor meanwhile has as much more time
    return now() > history.healed + length + stalls_.length_since(history.healed);
  };
  for (; !workers_.all_granted_since(history.healed); ::poll(nullptr, 0, 20)) {
    if (is_over()) return false;
  }
  return true;
}

// It happened at some time in this round.
void Campaign::note_surprise(History& history) {
  const std::optional<FaultKind> kind = deployment_->surprise();
  if (!kind) return;
  Fault fault{.kind = *kind, .excuses = deployment_->excuses({.kind = *kind})};
  fault.begins = fault.begun = history.began;
  fault.ends = fault.ended = now();
  history.faults.push_back(fault);
}

void Campaign::note_tokens(const History& history) {
  for (const Visit& visit : history.visits) {
    std::uint64_t& last = last_tokens_.at(visit.key);
    last = std::max(last, visit.token);
  }
}

void Campaign::write_log(const History& history, const Violations& found) const {
  std::ofstream log(folder_ / "round.log");
  log << "seed " << seed_of_last_round_ << "\n\nfaults, as planned\n";
  for (std::size_t index = 0; index < plan_.size(); ++index) {
    const Fault& fault = history.faults[index];
    log << plan_[index].number << ": " << describe(plan_[index]) << "; began "
        << at(history, fault.begins) << " to " << at(history, fault.begun) << ", ended "
        << at(history, fault.ends) << " to " << at(history, fault.ended) << '\n';
  }
  if (history.faults.size() > plan_.size()) {
    log << "not planned: " << traits(history.faults.back().kind).name << '\n';
  }
  for (const auto& [from, to] : history.stalls) {
    log << "the machine stalled from " << at(history, from) << " to " << at(history, to) << '\n';
  }
  log << "healed " << at(history, history.healed) << ", ended " << at(history, history.ended)
      << "\n\nviolations\n";
  for (const Violation& each : found) log << each.rule << ": " << each.text << '\n';
  log << "\nvisits\n";
  for (const Visit& visit : history.visits) {
    log << describe(history, visit) << " ended " << at(history, visit.ended) << " outcome "
        << static_cast<int>(visit.outcome) << " release " << static_cast<int>(visit.release)
        << " seen " << visit.seen << (visit.wrote ? " wrote " : " ") << at(history, visit.written)
        << (visit.intact ? " " : " torn ") << wishes(history, visit) << visit.text.data() << '\n';
  }
  deployment_->save_logs(folder_);
}

}  // namespace latchkey::chaos

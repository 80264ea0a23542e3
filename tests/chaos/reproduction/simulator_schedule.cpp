// The faults of a round as a schedule of the simulator.
// SPDX-License-Identifier: BSL-1.0
#include "chaos/reproduction/simulator_schedule.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "chaos/sort_stably.hpp"

namespace latchkey::chaos {
namespace {

using std::chrono::milliseconds;
using testing::ScheduledFault;
using Kind = ScheduledFault::Kind;

/// The simulator has two or three processes.
constexpr std::uint32_t most_processes = 3;

std::uint32_t number(int each) { return static_cast<std::uint32_t>(each); }

/// In the order of their begins.
Schedule counterpart_of(const PlannedFault& fault) {
  using enum FaultKind;
  ScheduledFault one{.at = milliseconds(fault.at_ms),
                     .process = number(std::max(fault.worker, 0)),
                     .key = number(std::max(fault.key, 0)),
                     .length = milliseconds(fault.length_ms)};
  const auto as = [&](Kind kind) {
    one.kind = kind;
    return Schedule{one};
  };
  switch (fault.kind) {
    case client_stop_short:
    case client_stop_long: return as(Kind::freeze);
    case client_kill: return as(Kind::crash);
    case client_descriptors:
    case link_mute:
    case link_half_open:
    case link_cut:
    case link_cut_mid_reply:
    case link_refused:
    case link_late_delivery: return as(Kind::disconnect);
    case server_stop_short:
    case server_stop_long:
    case server_kill:
    case server_shutdown:
    case server_pause:
    case server_pause_writes:
    case kill_normal:
    case kill_pubsub:
    case node_stop:
    case node_kill:
    case failover:
    case master_kill:
    case master_stop_short:
    case master_stop_long: {
      Schedule all;
      for (one.process = 0; one.process < most_processes; ++one.process) all.push_back(one);
      return all;
    }
    case server_kill_empty:
    case flushall: return as(Kind::restart);
    case clock_forward: one.length = clock_jump(fault); return as(Kind::clock_forward);
    case clock_back: {
      ScheduledFault end = one;
      end.at += one.length;
      end.kind = Kind::clock_forward;
      one.kind = Kind::clock_back;
      one.length = end.length = clock_jump(fault);
      return {one, end};
    }
    case delete_key:
    case forced_release: return as(Kind::forced_release);
    default: return {};
  }
}

/// How a kind is written.
struct KindForm {
  enum Target : std::uint8_t { nothing, process, key };
  Kind kind;
  const char* name;
  Target target;
  const char* length;  ///< the word before the length; empty: there is none
};

constexpr std::array kind_forms{
    KindForm{Kind::disconnect, "disconnect", KindForm::process, "for"},
    KindForm{Kind::freeze, "freeze", KindForm::process, "for"},
    KindForm{Kind::crash, "crash", KindForm::process, ""},
    KindForm{Kind::restart, "restart", KindForm::nothing, "for"},
    KindForm{Kind::clock_forward, "clock-forward", KindForm::nothing, "by"},
    KindForm{Kind::clock_back, "clock-back", KindForm::nothing, "by"},
    KindForm{Kind::forced_release, "forced-release", KindForm::key, ""}};

const KindForm& form_of(Kind kind) { return *std::ranges::find(kind_forms, kind, &KindForm::kind); }

const KindForm& form_of(const std::string& name) {
  const auto* const form = std::ranges::find(kind_forms, std::string_view(name), &KindForm::name);
  if (form != kind_forms.end()) return *form;
  std::string names;
  for (const KindForm& each : kind_forms)
    names += std::string(names.empty() ? "" : ", ") + each.name;
  throw std::invalid_argument("unknown fault '" + name + "'; expected one of " + names);
}

/// The words of a line.
class Words {
 public:
  explicit Words(const std::string& line) : line_(line) {}

  /// Empty after the last one.
  std::string next() {
    std::string word;
    line_ >> word;
    return word;
  }
  void expect(std::string_view expected) {
    const std::string word = next();
    if (word == expected) return;
    reject(word, expected.empty() ? "the end of the line" : "'" + std::string(expected) + "'");
  }
  /// An int holds about 24 days in milliseconds.
  int number() {
    const std::string word = next();
    int value = 0;
    const char* const last = word.data() + word.size();
    const auto [end, error] = std::from_chars(word.data(), last, value);
    if (error != std::errc() || end != last || value < 0) reject(word, "a number");
    return value;
  }

 private:
  [[noreturn]] static void reject(const std::string& word, const std::string& expected) {
    const std::string found = word.empty() ? "the end of the line" : "'" + word + "'";
    throw std::invalid_argument("expected " + expected + ", not " + found);
  }

  std::istringstream line_;
};

ScheduledFault read_fault(Words words) {
  ScheduledFault fault;
  words.expect("at");
  fault.at = milliseconds(words.number());
  words.expect("ms:");
  const std::string kind = words.next();
  const KindForm& form = form_of(kind);
  fault.kind = form.kind;
  if (form.target != KindForm::nothing) {
    const bool is_key = form.target == KindForm::key;
    words.expect(is_key ? "key" : "process");
    (is_key ? fault.key : fault.process) = number(words.number());
  }
  if (*form.length != '\0') {
    words.expect(form.length);
    fault.length = milliseconds(words.number());
    words.expect("ms");
  }
  words.expect("");
  return fault;
}

}  // namespace

TranslatedPlan translate(const std::vector<PlannedFault>& plan) {
  TranslatedPlan translated;
  for (const PlannedFault& fault : plan) {
    const Schedule faults = counterpart_of(fault);
    if (faults.empty()) ++translated.left_out;
    translated.schedule.insert(translated.schedule.end(), faults.begin(), faults.end());
  }
  sort_stably(translated.schedule, &ScheduledFault::at);
  return translated;
}

std::string text_of(const Schedule& schedule) {
  std::string text;
  for (const ScheduledFault& fault : schedule) {
    const KindForm& form = form_of(fault.kind);
    text += "at " + std::to_string(fault.at.count()) + " ms: " + form.name;
    if (form.target == KindForm::process) text += " process " + std::to_string(fault.process);
    if (form.target == KindForm::key) text += " key " + std::to_string(fault.key);
    if (*form.length == '\0') {
      text += '\n';
      continue;
    }
    text += " " + std::string(form.length) + " " + std::to_string(fault.length.count()) + " ms\n";
  }
  return text;
}

Schedule read_schedule(const std::filesystem::path& file) {
  std::ifstream text(file);
  if (!text) throw std::invalid_argument("cannot read '" + file.string() + "'");
  Schedule schedule;
  std::size_t number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    try {
      schedule.push_back(read_fault(Words(line)));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(file.string() + ":" + std::to_string(number) + ": " +
                                  error.what());
    }
  }
  if (schedule.empty()) throw std::invalid_argument("no fault in '" + file.string() + "'");
  return schedule;
}

}  // namespace latchkey::chaos

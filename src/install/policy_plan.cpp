// The effect of a policy file on each LOCKED of the program.
// SPDX-License-Identifier: BSL-1.0
#include "install/policy_plan.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <latchkey/detail/locked/checks.hpp>
#include <latchkey/error.hpp>

#include "core/text/nearest.hpp"
#include "install/policy_layers.hpp"
#include "install/rule_match.hpp"
#include "locks/coordinator/call.hpp"
#include "policy/settings.hpp"

namespace latchkey::inline v1::detail {
namespace {

class Planner {
 public:
  Planner(const PolicyFile& file, Problems& problems) : file_(file), problems_(problems) {}

  void check_keys() {
    for (const NamedPolicy& policy : file_.policies) check_key(policy.settings);
    for (const Rule& rule : file_.rules) check_key(rule.settings);
  }

  PolicyPlan plan(const Program& program) {
    check_keys();
    const std::vector<LockPlace>& places = program.places;
    const std::vector<const Rule*> rules = match_rules(file_.rules, program, problems_);
    is_whole_ = program.is_whole;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (!places[i].traits.once) rules_of_locks_.insert(rules[i]);
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      places[i].traits.once ? job(places[i], rules[i]) : lock(places[i], rules[i]);
    }
    return std::move(plan_);
  }

 private:
  /// A key must be well-formed even if no site uses it.
  void check_key(const PolicySettings& settings) {
    if (!settings.key) return;
    for (const Located<std::string>& key : settings.key->value.all) {
      try {
        static_cast<void>(parse_key(key.value));
      } catch (const KeyError& error) {
        report(key.at, error.what());
      }
    }
  }

  /// A LOCKED_ONCE_PER takes its backend from a rule. The other settings of the rule are for
  /// LOCKED; if it names none, they are mistakes.
  void job(const LockPlace& place, const Rule* rule) {
    if (rule == nullptr) return;
    if (!rules_of_locks_.contains(rule)) check_job(place, *rule);
    Layers layers{{&rule->settings}};
    if (rule->settings.policy) add(layers, file_.find_policy(rule->settings.policy->value));
    PlannedLock planned{.place = place, .at = rule->pattern.at};
    planned.backend = layers.find(&PolicySettings::backend);
    if (planned.backend) plan_.locks.push_back(std::move(planned));
  }

  void check_job(const LockPlace& place, const Rule& rule) {
    for (const PolicySetting& setting : policy_settings) {
      if (setting.name == "policy" || setting.name == "backend") continue;
      const auto check = [&](const auto& member) {
        const auto& said = rule.settings.*member.said;
        if (!said) return;
        report(said->at, quoted_word(setting.name) + " does not fit " + place.where +
                             ", which is a LOCKED_ONCE_PER; expected backend");
      };
      std::visit(check, setting.member);
    }
  }

  void lock(const LockPlace& place, const Rule* rule) {
    Layers layers;
    PlannedLock lock{.place = place};
    if (rule != nullptr) {
      lock.at = rule->pattern.at;
      layers.all.push_back(&rule->settings);
      if (rule->settings.policy) add(layers, file_.find_policy(rule->settings.policy->value));
    }
    if (place.traits.by_policy && !add_own_policy(layers, lock, rule)) return;
    lock.over = policy_of(layers);
    lock.defaults = policy_of({{&file_.defaults}});
    const Perhaps<KeyTexts> keys = layers.find(&PolicySettings::key);
    if (keys) lock.key = Located<std::string>{keys->value.shown(), keys->at};
    lock.backend = layers.find(&PolicySettings::backend);
    lock.lease = layers.find(&PolicySettings::lease);
    if (!lock.lease) lock.lease = file_.defaults.lease;
    lock.lock_delay = layers.find(&PolicySettings::lock_delay);
    if (!lock.lock_delay) lock.lock_delay = file_.defaults.lock_delay;
    lock.cache = layers.find(&PolicySettings::cache);
    const bool by_defaults = can_be_kept(lock.type()) && !lock.over.shared_with_redisson;
    if (!lock.cache && by_defaults) lock.cache = file_.defaults.cache;
    lock.fenced = layers.find(&PolicySettings::fenced);
    check_which_lock(layers, lock);
    check_fenced(lock);
    check_cache(layers, lock);
    if (keys) bind(keys->value, lock);
    check_strategies(layers, lock);
    check_hold_for(layers);
    check_held_at_most(layers);
    check_scope(layers, lock);
    note_danger(lock);
    const bool spoken_of = !layers.all.empty() || lock.defaults != Policy{};
    if (spoken_of) plan_.locks.push_back(std::move(lock));
  }

  static void add(Layers& layers, const NamedPolicy* policy) {
    if (policy != nullptr) layers.all.push_back(&policy->settings);
  }

  /// For LOCKED_BY. False: there is no such policy.
  bool add_own_policy(Layers& layers, PlannedLock& lock, const Rule* rule) {
    const std::string& name = lock.place.text;
    const NamedPolicy* const own = file_.find_policy(name);
    if (own == nullptr && !is_whole_) return false;
    if (own == nullptr) {
      std::vector<std::string_view> right;
      right.reserve(file_.policies.size());
      for (const NamedPolicy& policy : file_.policies) right.push_back(policy.name.value);
      report(file_.policies_at, "unknown policy " + quoted_word(name) + " in LOCKED_BY of " +
                                    lock.place.where + nearest_words(name, right));
      return false;
    }
    if (rule == nullptr) lock.at = own->name.at;
    layers.all.push_back(&own->settings);
    const bool reported = own->settings.key_is_wrong;
    if (!reported && !layers.find(&PolicySettings::key) &&
        !layers.find(&PolicySettings::unlocked)) {
      report(own->name.at, "the policy " + quoted_word(name) + " has no key, which LOCKED_BY of " +
                               lock.place.where + " needs");
    }
    return true;
  }

  void check_which_lock(const Layers& layers, PlannedLock& lock) {
    const auto type = layers.find(&PolicySettings::type);
    const bool own_key = lock.key && !lock.place.traits.by_policy;
    const auto permits = layers.find(&PolicySettings::permits);
    const bool own_type = (type || permits) && !lock.place.traits.by_policy;
    if (!lock.place.alone && (own_key || own_type)) {
      report(own_key   ? lock.key->at
             : permits ? permits->at
                       : type->at,
             lock.place.where +
                 " takes several locks: a rule cannot say which of them "
                 "gets this " +
                 (own_key   ? "key"
                  : permits ? "number of permits"
                            : "type"));
    }
    const auto keys = layers.find(&PolicySettings::key);
    if (permits && keys && keys->value.all.size() > 1) {
      report(permits->at,
             "'permits' makes a semaphore of one key, and 'key' has several; expected one key");
    }
  }

  void check_fenced(const PlannedLock& lock) {
    const LockType type = lock.type();
    if (!lock.fenced || !is_shared(type)) return;
    std::string mistake = no_token_mistake(type);
    if (!lock.over.type) mistake += "; for " + lock.place.where;  // its code gives the type
    report(lock.fenced->at, std::move(mistake));
  }

  /// A malformed key has been reported already, for all sites.
  void bind(const KeyTexts& keys, PlannedLock& lock) {
    std::vector<BoundKey> bound;
    for (const Located<std::string>& key : keys.all) {
      if (!is_usable(key.value)) continue;
      try {
        bound.push_back(bind_key(parse_key(key.value), lock.place.arguments));
      } catch (const KeyError& error) {
        report(key.at, std::string(error.what()) + "; for " + lock.place.where);
      }
    }
    if (!bound.empty()) lock.bound.emplace(std::move(bound));
  }

  static bool is_usable(const std::string& key) {
    try {
      static_cast<void>(parse_key(key));
      return true;
    } catch (const KeyError&) {
      return false;
    }
  }

  void check_strategies(const Layers& layers, const PlannedLock& lock) {
    const LockTraits& traits = lock.place.traits;
    const auto timeout = layers.find(&PolicySettings::on_timeout);
    const auto unavailable = layers.find(&PolicySettings::on_unavailable);
    if (timeout) fit(timeout->value, *timeout, lock);
    if (unavailable) fit(unavailable->value, *unavailable, lock);
    for (const auto& said : {layers.find(&PolicySettings::on_lost),
                             layers.find(&PolicySettings::on_unconfirmed_release)}) {
      if (said && std::holds_alternative<strategy::Raise>(said->value) && traits.never_throws) {
        report_throws(said->at, lock);
      }
    }
    // The defaults apply if neither the policy nor the code sets the option.
    const auto& defaults = file_.defaults;
    if (defaults.on_timeout && !timeout && !traits.says_timeout && !traits.never_throws) {
      fit(defaults.on_timeout->value, *defaults.on_timeout, lock);
    }
    if (defaults.on_unavailable && !unavailable && !traits.says_unavailable &&
        !traits.never_throws) {
      fit(defaults.on_unavailable->value, *defaults.on_unavailable, lock);
    }
  }

  template <class Strategy>
  void fit(const Strategy& wanted, const Located<Strategy>& said, const PlannedLock& lock) {
    if (std::holds_alternative<strategy::Skip>(wanted) && !lock.place.traits.can_be_skipped) {
      report(said.at, "'skip' does not fit " + lock.place.where + ", which returns " +
                          lock.place.result_type +
                          ": void, a pointer, std::optional or an expected can say that nothing "
                          "happened; say 'raise' here, or skip_with(value) in code");
    }
    if (std::holds_alternative<strategy::Raise>(wanted) && lock.place.traits.never_throws)
      report_throws(said.at, lock);
  }

  void report_throws(Place at, const PlannedLock& lock) {
    report(at, "'raise' does not fit " + lock.place.where +
                   ", which is declared .no_throw(); expected skip or report");
  }

  /// A `cache` of the defaults is for the locks that can be kept.
  void check_cache(const Layers& layers, const PlannedLock& lock) {
    const auto said = layers.find(&PolicySettings::cache);
    if (!said || said->value.count() == 0) return;
    if (!can_be_kept(lock.type())) report(said->at, no_cache_mistake(lock.type()));
    if (layers.find(&PolicySettings::shared_with)) {
      report(said->at,
             "'cache' does not fit 'shared_with: redisson': its tryLock() gets nothing from a lock "
             "that is kept; expected one of the two");
    }
  }

  /// The reader has compared the settings of one group already.
  void check_hold_for(const Layers& layers) {
    const auto time = layers.find(&PolicySettings::hold_for);
    const auto lease = layers.find(&PolicySettings::lease);
    if (!time || !lease || lease->value.is_watchdog()) return;
    if (time->value <= lease->value.length(std::chrono::milliseconds(0))) return;
    report(time->at,
           "'hold_for' is longer than the lease, which ends it earlier; expected a longer lease");
  }

  void check_held_at_most(const Layers& layers) {
    const auto most = layers.find(&PolicySettings::held_at_most);
    if (!most) return;
    std::string mistake = held_at_most_mistake(most->value, layers.find(&PolicySettings::lease),
                                               layers.find(&PolicySettings::hold_for));
    if (!mistake.empty()) report(most->at, std::move(mistake));
  }

  /// HERE has no body that could run without the lock, and the destructor of its Hold cannot throw.
  void check_scope(const Layers& layers, const PlannedLock& lock) {
    if (!lock.place.traits.for_scope) return;
    const std::string where = lock.place.where + ", which takes its lock for a scope by HERE";
    const auto timeout = layers.find(&PolicySettings::on_timeout);
    const auto lost = layers.find(&PolicySettings::on_lost);
    if (const auto unlocked = layers.find(&PolicySettings::unlocked)) {
      report(unlocked->at, "'unlocked' does not fit " + where + ": HERE always takes its lock");
    }
    if (timeout && std::holds_alternative<strategy::RunUnlocked>(timeout->value)) {
      report(timeout->at, "'run_unlocked_dangerously' does not fit " + where + ": say 'raise'");
    }
    const auto unconfirmed = layers.find(&PolicySettings::on_unconfirmed_release);
    if (lost && std::holds_alternative<strategy::Raise>(lost->value)) {
      report(lost->at, "'raise' does not fit " + where +
                           ": its Hold tells the listener of a loss, so say 'report'");
    }
    if (unconfirmed && std::holds_alternative<strategy::Raise>(unconfirmed->value)) {
      report(unconfirmed->at,
             "'raise' does not fit " + where +
                 ": its Hold tells the listener of an unconfirmed release, so say 'report'");
    }
  }

  void note_danger(const PlannedLock& lock) {
    if (lock.over.unlocked) {
      plan_.without_lock.push_back(lock.place.where + " always");
    } else if (lock.over.on_timeout &&
               std::holds_alternative<strategy::RunUnlocked>(*lock.over.on_timeout)) {
      plan_.without_lock.push_back(lock.place.where + " after a timeout");
    }
  }

  /// Reports a mistake once, though a rule may name many sites.
  void report(Place at, std::string sentence) {
    for (const Problem& known : problems_) {
      if (known.at.line == at.line && known.at.column == at.column && known.sentence == sentence) {
        return;
      }
    }
    problems_.push_back({at, std::move(sentence)});
  }

  const PolicyFile& file_;
  Problems& problems_;
  PolicyPlan plan_{};
  bool is_whole_ = true;
  std::set<const Rule*> rules_of_locks_{};  ///< that apply to a LOCKED or LOCKED_BY
};

}  // namespace

LockType PlannedLock::type() const noexcept {
  if (over.type) return *over.type;
  const LockType in_code = named_type(place.said);
  if (in_code != LockType::PERMIT) return in_code;
  return defaults.type.value_or(LockType::REENTRANT);
}

PolicyPlan plan_policies(const PolicyFile& file, const Program& program, Problems& problems) {
  return Planner(file, problems).plan(program);
}

void check_keys(const PolicyFile& file, Problems& problems) {
  Planner(file, problems).check_keys();
}

}  // namespace latchkey::inline v1::detail
// tidy: long-file because the checks of a file against a program share one state

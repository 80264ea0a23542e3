// Words that only this project used, and the usual term for each: the table to extend.
#pragma once

#include <array>
#include <string_view>

namespace latchkey::tidy {

struct PrivateWord {
  std::string_view word;     ///< a whole word; upper and lower case are different
  std::string_view instead;  ///< for the message
};

inline constexpr std::array private_words{
    PrivateWord{"SharedConnections", "ConnectionMultiplexer"},
    PrivateWord{"Wire", "ServerConnection"},
    PrivateWord{"Dialer", "Connector"},
    PrivateWord{"Drivers", "LeaderFollowers"},
    PrivateWord{"Seat", "a scope guard named after what it undoes"},
    PrivateWord{"Dormitory", "FutexWaitSet"},
    PrivateWord{"Beds", "slots"},
    PrivateWord{"Unsent", "QueuedRequest"},
    PrivateWord{"Forgettable", "UnreplicatedRelease"},
    PrivateWord{"asks_who", "wants_holder_name"},
    PrivateWord{"ignorant", "outcome_unknown"},
    PrivateWord{"rhythm", "renewal_interval"},
    PrivateWord{"pump", "dispatch_waiters"},
    PrivateWord{"ungrip", "drop_local_hold"},
    PrivateWord{"shared_grips", "a named count"},
    PrivateWord{"exclusive_grips", "a named count"},
    PrivateWord{"Turn", "EventContext"},
    PrivateWord{"Tidings", "Effects"},
    PrivateWord{"tidings", "effects"},
    PrivateWord{"JointCall", "MultiAcquire"},
    PrivateWord{"MemberCall", "BlockingCall"},
    PrivateWord{"HeldTogether", "MultiHold"},
    PrivateWord{"Composite", "MultiAcquirePlan"},
    PrivateWord{"Departure", "ReleaseGuard"},
    PrivateWord{"orphans", "detached holds"},
    PrivateWord{"left_behind", "leak_intentionally"},
    PrivateWord{"SeldomText", "LazyString"},
    PrivateWord{"ShortList", "SmallVector"},
    PrivateWord{"KeyText", "InlineString"},
    PrivateWord{"Magazine", "ThreadCache"},
    PrivateWord{"Errand", "sub-request"},
    PrivateWord{"errand", "sub-request"},
    PrivateWord{"leisure", "idle slice"},
    PrivateWord{"Mistake", "SyntaxError"},
    PrivateWord{"Grip", "granted hold"},
    PrivateWord{"Book", "key history"},
    PrivateWord{"Facts", "attempt record"},
    PrivateWord{"Appointment", "scheduled event"},
    PrivateWord{"Gate", "FaultProxy"},
    PrivateWord{"Way", "Connector"},
    PrivateWord{"Driver", "Follower"},
    PrivateWord{"Collection", "WakeBatch"},
    PrivateWord{"Sleeper", "Waiter"},
    PrivateWord{"Pending", "InFlightCommand"},
    PrivateWord{"standby", "backup leader"},
    PrivateWord{"eager", "awaiting reply"},
    PrivateWord{"ears", "subscriptions"},
    PrivateWord{"nudge", "retry_now"},
    PrivateWord{"grip", "granted hold"},
    PrivateWord{"ender", "release waiter"},
    PrivateWord{"owed", "compensations"},
    PrivateWord{"bury", "teardown"},
    PrivateWord{"Said", "a set-mask, or Result"},
    PrivateWord{"Ear", "Subscriber"},
    PrivateWord{"Asker", "ScriptClient"},
    PrivateWord{"Spoken", "CommandParser"},
    PrivateWord{"Weather", "Faults"},
    PrivateWord{"Crowd", "Workload"},
};

/// Parts of names that came back in variants: a name must not begin with one, nor have it after a
/// '_'.
inline constexpr std::array private_stems{
    PrivateWord{"stand_by", "follow"},      PrivateWord{"standing_by", "following"},
    PrivateWord{"rung_", "notified"},       PrivateWord{"go_on", "resume"},
    PrivateWord{"tell_", "report, notify"}, PrivateWord{"ask_again", "retry"},
    PrivateWord{"look_again", "poll"},
};

}  // namespace latchkey::tidy

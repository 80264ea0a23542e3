// Acquires on a separate thread, so that the main loop continues to read signals.
// SPDX-License-Identifier: BSL-1.0
#include "cli/run/acquisition.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <latchkey/attempt.hpp>
#include <latchkey/error.hpp>
#include <latchkey/owner.hpp>

#include "cli/connection.hpp"
#include "locks/space/announcement.hpp"

namespace latchkey::inline v1::cli {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

Acquisition::Acquisition(const RunOptions& options, const WakeEvent& done)
    : wait_(options.once ? options.once->limit(options.wait) : options.wait) {
  Place place = choose_place(options.connection);
  thread_ = std::jthread(
      [this, &options, &done, place = std::move(place)](const std::stop_token& cancelled) {
        acquire(options, place, cancelled);
        done.set();
      });
}

SteadyClock::time_point Acquisition::connect_deadline() const {
  // A wait of zero is one attempt, which has this time as in the library.
  constexpr milliseconds shortest{250};
  if (wait_.is_forever()) return SteadyClock::time_point::max();
  return start_ + std::max(wait_.length(), shortest);
}

bool Acquisition::give_up_connecting() noexcept {
  Stage expected = Stage::connecting;
  return stage_.compare_exchange_strong(expected, Stage::given_up);
}

Wait Acquisition::wait_left() const {
  if (wait_.is_forever()) return wait_;
  return wait_.length() - std::chrono::floor<milliseconds>(SteadyClock::now() - start_);
}

void Acquisition::abandon() {
  thread_.request_stop();
  thread_.join();
  if (locks) locks->close(std::chrono::milliseconds(0));
}

// A lock that another process has granted by its release has a lease of 3 s at first, which looks
// like a lock that is about to end.
void Acquisition::ensure_lease(Hold& acquired, milliseconds lease) {
  if (acquired.remaining() < lease / 2) acquired.extend(lease);
}

namespace {

/// The sentence with the time since the tool began to wait: that of the library begins when there
/// is a connection, or is known to be none.
std::string with_whole_wait(std::string sentence, milliseconds waited) {
  constexpr std::string_view before = "; waited ", after = " ms";
  const std::size_t at = sentence.rfind(before);
  if (at == std::string::npos || !sentence.ends_with(after)) return sentence;
  return sentence.substr(0, at + before.size()) + std::to_string(waited.count()).append(after);
}

}  // namespace

void Acquisition::acquire(const RunOptions& options, const Place& place,
                          const std::stop_token& cancelled) {
  const auto fail = [this](int code, const std::exception& error) {
    exit_code = code;
    reason = error.what();
  };
  try {
    Options connect_options;
    connect_options.watchdog = options.watchdog_period;
    connect_options.announce = true;
    const std::string& program = options.command.front();
    detail::name_program("latchkey run " + program.substr(program.rfind('/') + 1));
    // A server that is down may come up while the wait lasts.
    connect_options.startup = Startup::allow_down;
    if (options.quiet) connect_options.listener = silent_listener();
    locks.emplace(connect(place, std::move(connect_options)).with_owner(Owner::make()));
    Stage expected = Stage::connecting;
    if (!stage_.compare_exchange_strong(expected, Stage::connected)) return;
    if (options.once && !locks->capabilities().expires) {
      throw std::invalid_argument(locks->describe() +
                                  " keeps no key locked after its holder has ended, which once "
                                  "needs; expected redis://, postgresql:// or mysql://");
    }
    Attempt attempt;
    attempt.type = options.permits ? LockType::PERMIT : options.type;
    if (options.permits) attempt.permits.total = *options.permits;
    attempt.wait = wait_left();
    attempt.lease = options.lease;
    attempt.cancel = cancelled;
    Hold acquired = options.keys.size() == 1 ? locks->acquire(options.keys.front(), attempt)
                                             : locks->acquire_all(options.keys, attempt);
    ensure_lease(acquired, options.lease_length());
    hold.emplace(std::move(acquired));
  } catch (const LockTimeout& late) {
    // The wait began before the connection was made.
    busy = true;
    fail(options.conflict_exit_code,
         LockTimeout({late.key(), late.type(), late.backend()},
                     wait_.is_forever() ? late.waited() : wait_.length(), late.holder()));
  } catch (const BackendRefused& refusal) {
    fail(exit_code::refused, refusal);
  } catch (const LockError& error) {  // unavailable, cancelled, closed: the outcome is unknown
    fail(exit_code::unavailable, error);
    reason = with_whole_wait(std::move(reason),
                             std::chrono::floor<milliseconds>(SteadyClock::now() - start_));
  } catch (const KeyError& error) {
    fail(exit_code::usage, error);
  } catch (const std::invalid_argument& error) {
    fail(exit_code::usage, error);
  } catch (const std::exception& error) {
    fail(exit_code::internal, error);
  }
}

}  // namespace latchkey::inline v1::cli

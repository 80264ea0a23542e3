// A listener that records how long grants had to wait, for each account.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include <latchkey/listener.hpp>

#include "histogram.hpp"

namespace demo {

/// Every grant event has the time during which another owner held the lock; the report uses only
/// these times.
class Waits : public latchkey::Listener {
 public:
  void on_event(const latchkey::Event& event) override;

  /// Events arrive slightly later than they happen: waits until `grants` of them have arrived or
  /// were reported as dropped, at most a second.
  void settle(std::uint64_t grants);

  struct Seen {
    std::map<std::string, Histogram, std::less<>> by_account;  ///< by the account's id
    Histogram all;
    std::string longest_at;     ///< the account id of the longest wait
    std::uint64_t dropped = 0;  ///< events that came faster than the listener could take them
  };
  [[nodiscard]] Seen seen() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable more_;
  Seen seen_;
};

}  // namespace demo

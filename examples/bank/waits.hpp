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

/// Every grant says how long somebody else was in the way: all that the report knows of waiting
/// comes from there.
class Waits : public latchkey::Listener {
 public:
  void on_event(const latchkey::Event& event) override;

  /// Events come a little after what they tell of: waits until `grants` of them are here or given
  /// up as dropped, at most a second.
  void settle(std::uint64_t grants);

  struct Seen {
    std::map<std::string, Histogram, std::less<>> by_account;  ///< by the account's id
    Histogram all;
    std::string longest_at;     ///< the id where the longest wait was
    std::uint64_t dropped = 0;  ///< events that came faster than they could be told
  };
  [[nodiscard]] Seen seen() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable more_;
  Seen seen_;
};

}  // namespace demo

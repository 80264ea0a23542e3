// A listener that checks the order of FAIR grants.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <latchkey/listener.hpp>

namespace latchkey::soak {

/// Checks that FAIR keys are granted in the order of their tickets. Dropped events leave gaps in
/// the sequence but keep its order, so they are only counted. Read the counters after the Locks are
/// destroyed.
class FairTrace final : public Listener {
 public:
  void on_event(const Event& event) override {
    if (event.kind == Event::Kind::dropped) dropped += event.count;
    if (event.kind != Event::Kind::granted || event.ticket == 0) return;
    std::uint64_t& last = last_[event.key];
    if (event.ticket <= last) ++disorder;
    last = event.ticket;
    ++grants;
    if (event.waited > std::chrono::milliseconds(0)) ++waited;
  }

  std::uint64_t grants = 0;
  std::uint64_t waited = 0;
  std::uint64_t disorder = 0;
  std::uint64_t dropped = 0;

 private:
  std::map<std::string, std::uint64_t> last_;
};

}  // namespace latchkey::soak

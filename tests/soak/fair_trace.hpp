// FAIR grants by the coordinator's own trace.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <latchkey/listener.hpp>

namespace latchkey::soak {

/// Looks at the `granted` events of FAIR keys: in the order of the grants, the places in the queue
/// must rise. Where the queue of events overflowed, a part of a rising sequence still rises, so
/// what was dropped is only counted. Read it when the Locks are gone.
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

// One half of the program, compiled twice: with one version of latchkey each.
#include "half.hpp"

#include <chrono>
#include <latchkey/latchkey.hpp>
#include <typeinfo>

using namespace std::chrono_literals;

namespace VERSION {

Half run() {
  Half half;
  half.type = typeid(latchkey::Locks).name();
  latchkey::install(latchkey::Locks::connect("memory:"));  // once for each version
  const int id = 42;
  LOCKED("order:{id}", latchkey::LockType::WRITE, 3s, 30s) AROUND(id) {
    half.holds = latchkey::current_hold() != nullptr && !latchkey::current_hold()->lost();
  };
  for ([[maybe_unused]] const latchkey::Site& site : latchkey::sites()) ++half.sites;
  return half;
}

}  // namespace VERSION

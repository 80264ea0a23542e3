// The debug information of the private types that a Hold points to, as a latchkey compiled with -g
// has.
#include "locks/coordinator/coordinator.hpp"
#include "locks/hold/multi_hold.hpp"

namespace latchkey::detail {

const Coordinator* gdb_coordinator = nullptr;
const RemoteHold* gdb_remote_hold = nullptr;
const MultiHold* gdb_multi_hold = nullptr;

}  // namespace latchkey::detail

// Each public noun of the coroutines, with public headers only.
#include <latchkey/asio.hpp>
#include <latchkey/asio/async.hpp>
#include <latchkey/asio/first_of.hpp>
#include <latchkey/asio/latch.hpp>
#include <latchkey/asio/leader.hpp>
#include <latchkey/asio/once.hpp>

namespace every_public_name {

using latchkey::async_acquire;
using latchkey::async_close;
using latchkey::async_count;
using latchkey::async_count_down;
using latchkey::async_extend;
using latchkey::async_lead;
using latchkey::async_release;
using latchkey::async_run;
using latchkey::async_try_acquire;
using latchkey::async_try_set_count;
using latchkey::async_wait;
using latchkey::async_wait_for;
using latchkey::LeaderCoroutine;
using latchkey::use_thread_pool;

}  // namespace every_public_name

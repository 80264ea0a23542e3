// expect: co_await.* cannot be used in a function with a deduced return type
// The compiler's own sentence: nothing of ours is asked before it.
#include <latchkey/latchkey.hpp>

#include <coroutine>

void call() {
  LOCKED("key") AROUND() { co_await std::suspend_never(); };
}

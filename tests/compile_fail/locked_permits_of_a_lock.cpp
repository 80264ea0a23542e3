// expect: \.permits\(n\) makes the key a semaphore, and the type in LOCKED is that of a lock
// Permits of a lock.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

void call() { LOCKED("exports", LockType::WRITE, 3s, 30s).permits(3) AROUND(){}; }

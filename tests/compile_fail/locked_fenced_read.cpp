// expect: a READ has no fencing token, because several hold it at a time: write \.fenced\(\)
// A fencing token of a lock that several hold at a time.
#include <latchkey/latchkey.hpp>

#include <chrono>

using namespace std::chrono_literals;
using latchkey::LockType;

void call() { LOCKED("report", LockType::READ, 3s, 30s).fenced() AROUND(){}; }

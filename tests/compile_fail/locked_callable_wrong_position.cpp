// expect: error: .*no_argument_at<.*"1".*1
// A decorated callable, whose arguments have positions.
#include <latchkey/latchkey.hpp>

auto call = LOCKED("key:{1}")([](int value) { return value; });

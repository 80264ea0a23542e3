// expect: a_floating_point_number_makes_no_key<.*"delay".*duration
#include <latchkey/key.hpp>

#include <chrono>

void use() { latchkey::Key<"{delay}">::check<"delay", std::chrono::duration<double>>(); }

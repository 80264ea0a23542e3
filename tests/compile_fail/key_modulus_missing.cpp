// expect: a_number_must_follow_the_percent_sign.*"many"
#include <latchkey/key.hpp>

void use() { static_cast<void>(latchkey::Key<"{id % many}">::many); }

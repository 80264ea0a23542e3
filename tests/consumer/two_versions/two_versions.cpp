// Runs both halves: neither may see the other's types, default Locks or decorated methods.
#include <cstdio>

#include "half.hpp"

int main() {
  const Half now = this_version::run();
  const Half next = next_version::run();
  std::printf("%s and %s, sites %d and %d\n", now.type.c_str(), next.type.c_str(), now.sites,
              next.sites);
  const bool apart = now.type != next.type && now.sites == 1 && next.sites == 1;
  return apart && now.holds && next.holds ? 0 : 1;
}

// Runs both halves: neither may see the other's types, default Locks or decorated methods.
#include <cstdio>

#include "half.hpp"

int main() {
  const Half now = this_version::run();
  const Half other = other_version::run();
  std::printf("%s and %s, sites %d and %d\n", now.type.c_str(), other.type.c_str(), now.sites,
              other.sites);
  const bool apart = now.type != other.type && now.sites == 1 && other.sites == 1;
  return apart && now.holds && other.holds ? 0 : 1;
}

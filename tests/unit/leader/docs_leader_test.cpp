// The snippets of docs/leader.md and of leader.hpp.
#include <gtest/gtest.h>

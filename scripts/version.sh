#!/usr/bin/env bash
# Prints the version of latchkey, which include/latchkey/version.hpp names.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
awk '/^#define LATCHKEY_VERSION_M?[A-Z]+ [0-9]/ { text = text dot $3; dot = "." } END { print text }' \
  include/latchkey/version.hpp

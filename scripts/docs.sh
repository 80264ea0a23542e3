#!/usr/bin/env bash
# Builds the documentation site: build/docs/html/index.html. Fails on a dead link.
#
#   scripts/docs.sh            build the site
#   scripts/docs.sh check      the tests of the generator and of the link checker
#   scripts/docs.sh shots DIR  a screenshot of each page, at the widths of a desk and of a phone
#
# Doxygen reads the public headers, and Zensical makes the pages. Zensical and its dependencies are
# installed into build/docs/python, from the Python package index
# that pip is configured for. Nothing outside of build/ is changed.
set -euo pipefail
export PYTHONDONTWRITEBYTECODE=1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
scripts=$root/scripts/docs
out=$root/build/docs
python=$out/python

say() { printf 'docs: %s\n' "$*" >&2; }

# The interpreter of the system, since a virtual environment outlives other ones on the PATH.
provide_zensical() {
  cmp -s "$scripts/requirements.txt" "$python/requirements.txt" && return 0
  say "installing Zensical into build/docs/python"
  rm -rf "$python"
  mkdir -p "$out"
  /usr/bin/python3 -m venv "$python"
  "$python/bin/pip" install --quiet --disable-pip-version-check --no-deps \
    --requirement "$scripts/requirements.txt"
  cp "$scripts/requirements.txt" "$python/requirements.txt"
}

# The page is in a frame, which may be narrower than Chromium's narrowest window. A new profile for
# each run; the options keep Chromium from contacting other hosts.
screenshot() {
  local page=$1 width=$2 height=$3 file=$4 profile
  profile=$(mktemp -d)
  printf '<body style="margin:0"><iframe style="border:0;width:%dpx;height:%dpx" src="file://%s">' \
    "$width" "$height" "$page" >"$profile/frame.html"
  chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
    --disable-background-networking --disable-component-update --disable-sync --hide-scrollbars \
    --user-data-dir="$profile/profile" --window-size="$width,$height" --screenshot="$file" \
    "file://$profile/frame.html" >/dev/null 2>&1
  rm -rf "$profile"
}

screenshots() {
  local to=$1 page name
  mkdir -p "$to"
  find "$out/html" -name '*.html' ! -path '*/source/*' | sort | while read -r page; do
    name=${page#"$out/html/"}
    name=${name//\//-}
    screenshot "$page" 1440 2400 "$to/${name%.html}-desk.png"
    screenshot "$page" 390 2400 "$to/${name%.html}-phone.png"
    say "${name%.html}"
  done
}

case ${1:-build} in
  build)
    provide_zensical
    "$python/bin/python" "$scripts/build.py" "$root" "$out" "$python/bin/zensical"
    ;;
  check)
    provide_zensical
    ZENSICAL=$python/bin/zensical "$python/bin/python" -m unittest discover --start-directory \
      "$scripts" --pattern '*_test.py'
    ;;
  shots) screenshots "$(realpath -m "$2")" ;;
  *) sed -n '2,/^$/p' "${BASH_SOURCE[0]}" | sed 's/^# \?//' >&2; exit 2 ;;
esac

# Clean roots of Debian by debootstrap, as root; packages.sh and lanes.sh source this file.
#
#   make_root <suite>           build/roots/<suite>.tar.gz, unless it is there; <suite> is bookworm, trixie, …
#   copy_root <suite> <folder>  a copy of it with the sources of latchkey in /latchkey
#   in_root <folder> <command>...   runs a command there, without this shell's environment
#   remove_root <folder>
# shellcheck shell=bash

roots=$root/build/roots

# Debian's testing and unstable have the recipe of sid where debootstrap is older than their names.
make_root() {
  local suite=$1 recipe=/usr/share/debootstrap/scripts/$1
  [[ $(id -u) == 0 ]] || { printf 'debootstrap needs root\n' >&2; return 1; }
  command -v debootstrap >/dev/null || { printf 'there is no debootstrap: make deps installs it\n' >&2; return 1; }
  [[ -e $roots/$suite.tar.gz ]] && return
  [[ -e $recipe ]] || recipe=/usr/share/debootstrap/scripts/sid
  mkdir -p "$roots"
  rm -rf "${roots:?}/$suite"
  if ! debootstrap --variant=minbase --include=ca-certificates "$suite" "$roots/$suite" \
         http://deb.debian.org/debian "$recipe" >"$roots/$suite.log" 2>&1; then
    cat "$roots/$suite.log"
    return 1
  fi
  tar -C "$roots/$suite" -czf "$roots/$suite.tar.new" .
  mv "$roots/$suite.tar.new" "$roots/$suite.tar.gz"
  rm -rf "${roots:?}/$suite"
}

# A copy reaches the network as this machine does: by the same name servers and proxies, with the same
# certificate authorities.
copy_root() {
  local suite=$1 folder=$2
  remove_root "$folder"
  mkdir -p "$folder"
  tar -C "$folder" -xzf "$roots/$suite.tar.gz"
  cp /etc/resolv.conf "$folder/etc/resolv.conf"
  cp /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs/"
  # Debian's installer writes it, debootstrap need not.
  [[ -e $folder/etc/hosts ]] || printf '127.0.0.1 localhost\n::1 localhost\n' >"$folder/etc/hosts"
  apt-config dump | grep '^Acquire::' | grep -viE 'insecure|weak|downgrade' \
    >"$folder/etc/apt/apt.conf.d/99this-machine" || true
  # The package list of this machine serves for its own suite only.
  if [[ $suite == "$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")" ]]; then
    cp /etc/apt/sources.list "$folder/etc/apt/" 2>/dev/null || true
  fi
  mkdir "$folder/latchkey"
  (cd "$root" && git ls-files -co --exclude-standard -z | xargs -0 cp --parents -t "$folder/latchkey")
}

# /proc and /dev, with its pseudo-terminals, are mounted for this command only, so that removing the folder
# removes nothing else.
in_root() {
  local folder=$1
  shift
  # shellcheck disable=SC2016  # the inner shell expands them
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    PIP_CERT=/etc/ssl/certs/ca-certificates.crt \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    unshare --mount sh -c 'mount --bind /proc "$0/proc" && mount --rbind /dev "$0/dev" &&
                           exec chroot "$0" "$@"' "$folder" "$@"
}

remove_root() { rm -rf --one-file-system "$1"; }

#!/bin/sh
# Compiles through ccache: ccache.sh CCACHE COMPILER ARGUMENT...
#
# ccache caches precompiled headers only if it may ignore their timestamps. By what the preprocessor
# leaves of them it takes one for another: `#pragma once` knows a precompiled header by its bytes,
# comments included, and of one that exists already only its name is left. So the old one goes first,
# CCACHE_DEPEND has ccache compare the headers themselves, and the namespace leaves out what was cached
# without that. Other sources are known by what the preprocessor leaves, which is the same in each
# clone.
ccache=$1
shift
export CCACHE_SLOPPINESS=pch_defines,time_macros
case " $* " in
  *' c++-header '*)
    export CCACHE_DEPEND=1 CCACHE_NAMESPACE=latchkey-headers
    previous=
    for argument; do
      [ "$previous" != -o ] || rm -f "$argument"
      previous=$argument
    done
    ;;
esac
exec "$ccache" "$@"

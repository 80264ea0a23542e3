# What one does with a checkout of latchkey. Each target installs what it needs first.
#
#   make demo      build the example bank and run it
#   make test      build everything and run the tests of every change
#   make test-night  the tests that take longer, which make nightly runs
#   make seeds     the simulator over SEEDS=200000 from FIRST=… on; by default seeds that no other day has
#   make test-stores  the tests of the other stores on their servers, which make deps-stores installs
#   make proofs    programs of PROOFS=folder that each show a defect, against an installed latchkey
#   make nightly   what takes longer than a change may: sanitizers, packages, ABI, fuzzers, campaigns
#   make bench     side-by-side benchmarks
#   make bench-stores  the other stores beside their usual clients: needs java, mvn, go
#   make bench-peers  the same workloads in Redisson, rueidislock and redsync: needs java, mvn, go
#   make soak      64 threads on 100 keys for 60 s: LATCHKEY_SOAK=60s
#   make chaos     processes, faults and a judge, for CHAOS=10min; with SEED=… the same faults again
#                  with REPLAY=FILE the round that a campaign has left in this file
#   make chaos-stores  the same on the other stores
#   make chaos-redisson  the same beside Redisson; needs a JDK and Maven
#   make chaos-night  the three for 8 h in all
#   make asan tsan the tests under AddressSanitizer+UBSan, under ThreadSanitizer (clang 19)
#   make asan-stores  the tests of the other stores under AddressSanitizer+UBSan
#   make fuzz      each fuzzer for FUZZ=600s, and what its corpus covers
#   make interop   the same locks from C++ and from real Redisson; needs a JDK and Maven
#   make spec      TLC checks docs/spec and histories of the simulator; needs a JDK and Maven;
#                  SPEC_SEEDS=300 is how many seeds
#   make other-languages  SET NX locks beside clients in Python, Node.js and Go; needs pip, npm, go
#   make messages  what clang says about programs that must not compile
#   make headers   compiles each public header on its own
#   make docs      the documentation site: build/docs/html/index.html
#   make shots     a screenshot of each page of the site, as wide as a desk and a phone: build/shots
#   make format    reformat the sources        make tidy  static analysis
#   make newer-compiler  what a newer compiler and standard library than this system's say
#   make annotations  the annotations of C++26 with GCC 16, in a root of Debian's testing, as root
#   make lanes     builds and tests on Debian 12, 13 and testing with their compilers, as root;
#                  LANES="trixie-gcc flags" runs these only
#   make packages  .deb packages, tried in a clean Debian; as root     make conan  the Conan package
#   make routes    every way to take latchkey, in a clean Debian, with a stopwatch; as root
#   make wheel     the package for Python: build/wheel/latchkey-*.whl
#   make abi       the ABI of the shared library beside that of the last tag
#   make install   the library and the command line tool: PREFIX=/usr/local, DESTDIR=
#   make deps      install all dependencies    make clean

.DEFAULT_GOAL := help
.PHONY: help demo test test-build test-night seeds test-stores deps-stores bench bench-stores bench-peers soak
.PHONY: annotations headers proofs spec nightly chaos chaos-stores chaos-redisson chaos-night
.PHONY: format format-check tidy asan asan-stores tsan messages fuzz interop other-languages install packages newer-compiler lanes conan wheel routes abi deps docs shots clean

PREFIX ?= /usr/local
DESTDIR ?=
SOAK ?= 60s
# How long `make chaos` runs, and with which seed; without one it draws one and prints it.
CHAOS ?= $(if $(LATCHKEY_CHAOS),$(LATCHKEY_CHAOS),10min)
SEED ?=
# The file of a failed round that `make chaos` runs again, and no other.
REPLAY ?=
FUZZ ?= 600s
# How many seeds of the simulator `make spec` checks with TLC; each has about two histories.
SPEC_SEEDS ?= 300
# Programs that each show a defect; see scripts/proofs.sh. They are not part of this repository.
PROOFS ?= ../shared/proofs
# How long each soak runs as one of the tests.
export LATCHKEY_SOAK ?= 5s
# Options of scripts/bench_peers.sh, such as PEERS="--rounds 1 --measure-ms 200 --groups own".
PEERS ?=
# Arguments of `make demo`, such as ARGS="--backend memory:".
ARGS ?=

NINJA := $(if $(VERBOSE),-v,--quiet)
own_sources = $(shell git ls-files -co --exclude-standard '*.cpp' '*.hpp')

# Two targets may run at once, but not two builds in one folder.
compile = flock build/$(1).lock cmake --build build/$(1)
configure = flock build/$(1).lock cmake --preset $(1) >build/$(1).log 2>&1 || { cat build/$(1).log; exit 1; }
build = @mkdir -p build && $(call configure,$(1)) && $(call compile,$(1)) -- $(NINJA)
ctest = @scripts/run_tests.sh build/$(1)

help:
	@awk '!/^#/ { exit } { sub(/^# ?/, ""); print }' Makefile

deps:
	@scripts/deps.sh all

demo:
	@scripts/deps.sh demo
	@mkdir -p build && $(call configure,demo)
	@echo "demo: building, which takes about two minutes the first time"
	@cmake --build build/demo --target example_bank -- $(NINJA)
	@cd examples && ../build/demo/examples/bank $(ARGS)

test-build:
	@scripts/deps.sh test
	$(call build,test)

test: test-build
	$(call ctest,test) -j8 -LE '^(stores|chaos|night)$$'

# What of the tests takes too long for every change: latchkey on the other servers of Redis's kind, as a
# consumer builds it, and the simulator over mutations that it must detect.
test-night: test-build
	@$(call compile,test) --target latchkey_sim_mutations -- $(NINJA)
	$(call ctest,test) -L '^night$$'

# The usual tests run the same seeds each time, in which all that they can find has been found.
SEEDS ?= 200000
FIRST ?= $(shell echo $$(($$(date +%s) / 86400 * $(SEEDS))))
seeds: test-build
	@echo "seeds from $(FIRST) on"
	@LATCHKEY_SIM_SEEDS=$(SEEDS) LATCHKEY_SIM_FIRST=$(FIRST) build/test/tests/latchkey_sim \
	  --gtest_brief=1 --gtest_filter='*Seed*'

headers:
	@scripts/deps.sh test
	@mkdir -p build && $(call configure,test)
	@cmake --build build/test --target all_verify_interface_header_sets -- $(NINJA)

deps-stores:
	@scripts/deps.sh stores

define test_stores
@mkdir -p build && $(call configure,$(1))
@$(call compile,$(1)) --target store_tests -- $(NINJA)
$(call ctest,$(1)) -j8 -L '^stores$$'
endef

test-stores: deps-stores
	$(call test_stores,test)

proofs: deps-stores
	$(call build,test)
	@if [ -d "$(PROOFS)" ]; then scripts/proofs.sh build/test "$(PROOFS)"; \
	  else echo "There is no $(PROOFS): no program runs."; fi

nightly:
	@.ci/run --nightly

annotations:
	@scripts/annotations.sh

asan:
	@scripts/deps.sh clang
	$(call build,asan)
	$(call ctest,asan) -LE '^(consumer|compile_fail|tidy|stores|chaos|night)$$'

asan-stores: deps-stores
	@scripts/deps.sh clang
	$(call test_stores,asan-stores)

tsan:
	@scripts/deps.sh clang
	$(call build,tsan)
	$(call ctest,tsan) -LE '^(consumer|compile_fail|tidy|stores|chaos|night)$$'

messages:
	@scripts/deps.sh clang
	@mkdir -p build && $(call configure,clang)
	$(call ctest,clang) -L '^compile_fail$$'

fuzz:
	@scripts/deps.sh fuzz
	@mkdir -p build && $(call configure,fuzz)
	@cmake --build build/fuzz -- $(NINJA) $(patsubst tests/fuzz/%_fuzz.cpp,fuzz_%,$(wildcard tests/fuzz/*_fuzz.cpp))
	@scripts/fuzz.sh build/fuzz $(FUZZ)

interop:
	@scripts/deps.sh test
	@mkdir -p build && $(call configure,test)
	@scripts/interop.sh build/test

spec:
	@scripts/deps.sh test
	@mkdir -p build && $(call configure,test)
	@scripts/spec.sh build/test $(SPEC_SEEDS)

other-languages:
	@scripts/deps.sh test
	@mkdir -p build && $(call configure,test)
	@scripts/other_languages.sh build/test

docs:
	@scripts/deps.sh docs
	@scripts/docs.sh check
	@scripts/docs.sh build

shots: docs
	@scripts/deps.sh shots
	@scripts/docs.sh shots build/shots

soak:
	@scripts/deps.sh test
	$(call build,test)
	@LATCHKEY_SOAK=$(SOAK) ctest --test-dir build/test -V --no-tests=error -L '^soak$$'

# The campaign on some deployments. It prints the figures of docs/reliability.md.
build_chaos = @mkdir -p build && $(call configure,test) && \
  $(call compile,test) --target latchkey_chaos latchkey_chaos_tests -- $(NINJA)
run_chaos = @LATCHKEY_CHAOS=$(CHAOS) LATCHKEY_SEED=$(SEED) \
  build/test/tests/latchkey_chaos --deployment $(1)

# Its judge is tested first.
chaos:
	@scripts/deps.sh test
	$(build_chaos)
ifeq ($(REPLAY),)
	@ctest --test-dir build/test --output-on-failure --no-tests=error -j 4 -L '^chaos$$' -E '^chaos$$'
	$(call run_chaos,all)
else
	@build/test/tests/latchkey_chaos --replay $(REPLAY)
endif

chaos-stores: deps-stores
	$(build_chaos)
	$(call run_chaos,stores)

chaos-redisson:
	@scripts/deps.sh test
	$(build_chaos)
	@LATCHKEY_CHAOS=$(CHAOS) LATCHKEY_SEED=$(SEED) scripts/chaos_redisson.sh build/test

chaos-night:
	@$(MAKE) chaos CHAOS=4h
	@$(MAKE) chaos-stores CHAOS=3h
	@$(MAKE) chaos-redisson CHAOS=1h

# Runs programs, and fails if one of them missed a limit.
run_benches = @missed=; for program in $(1); do \
	  [ -f $$program ] || continue; \
	  echo "== $${program\#\#*/}"; $$program || missed="$$missed $${program\#\#*/}"; \
	done; [ -z "$$missed" ] || { echo "limits missed:$$missed"; exit 1; }

bench:
	@scripts/deps.sh bench
	$(call build,release)
	$(call run_benches,build/release/bench/bench_* bench/*.sh)

bench-stores: deps-stores
	@scripts/deps.sh bench
	@mkdir -p build && $(call configure,release)
	@cmake --build build/release --target store_benches -- $(NINJA)
	$(call run_benches,build/release/bench/stores/*/bench_* bench/peers/redis_set.sh)

bench-peers:
	@scripts/deps.sh peers
	@mkdir -p build && $(call configure,release)
	@scripts/bench_peers.sh build/release $(PEERS)

format:
	@scripts/deps.sh clang
	@clang-format-19 -i $(own_sources)

format-check:
	@scripts/deps.sh clang
	@clang-format-19 --dry-run -Werror $(own_sources)

tidy:
	@scripts/deps.sh clang
	@mkdir -p build && $(call configure,tidy)
	@scripts/tidy.sh build/tidy

newer-compiler:
	@scripts/deps.sh clang
	@scripts/deps.sh libstdcxx
	@mkdir -p build && $(call configure,tidy)
	@scripts/newer_compiler.sh build/tidy

# The lanes that `make lanes` runs; by default all of them.
LANES ?=
lanes:
	@scripts/deps.sh packages
	@scripts/lanes.sh $(LANES)

install:
	@scripts/deps.sh build
	@mkdir -p build
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) -DLATCHKEY_BENCH=OFF \
	  -DLATCHKEY_EXAMPLES=OFF -DLATCHKEY_UNITY=ON -B build/install >build/install.log 2>&1 || \
	  { cat build/install.log; exit 1; }
	@cmake --build build/install -- $(NINJA)
	@DESTDIR=$(DESTDIR) cmake --install build/install --prefix $(PREFIX)

packages:
	@scripts/deps.sh packages
	@scripts/packages.sh deb
	@scripts/packages.sh routes deb

conan:
	@scripts/deps.sh build
	@scripts/packages.sh conan

wheel:
	@scripts/deps.sh wheel
	@scripts/wheel.sh

routes:
	@scripts/deps.sh packages
	@scripts/packages.sh deb
	@scripts/packages.sh routes

abi:
	@scripts/deps.sh packages
	@scripts/packages.sh abi

clean:
	@find build -mindepth 1 -maxdepth 1 ! -name deps -exec rm -rf {} + 2>/dev/null || true

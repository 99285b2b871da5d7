# SPDX-License-Identifier: Apache-2.0
# pieprofd: plain GNU Make, non-recursive. `make help` lists the targets.

O     ?= build
V     ?= 0
DEBUG ?= 0
SAN   ?=
COVERAGE ?=

VERSION := 0.1.0
PREFIX  ?= /usr/local
DESTDIR ?=

CC         ?= cc
PKG_CONFIG ?= pkg-config
PYTHON     ?= python3

FOLDERS  := common attach symbolize pyintrospect daemon
PACKAGES := libunwind-ptrace libunwind-generic libdw libelf liblzma zlib jansson libzstd libpcre2-8 ncursesw tinfo libmicrohttpd libbpf libcurl

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wundef \
	-Wwrite-strings -Wvla -Wformat=2 -Wimplicit-fallthrough -Wpointer-arith -Wcast-qual
ifneq ($(CI),)
WARNINGS += -Werror
endif

OPTIMISE := $(if $(filter 1,$(DEBUG)),-Og,-O2)
FORTIFY  := $(if $(filter 1,$(DEBUG))$(SAN),,-D_FORTIFY_SOURCE=2)
SANITIZE := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)
# Several threads count, and several programs at once add to the same files.
COUNTERS := $(if $(COVERAGE),--coverage -fprofile-update=atomic)

CPPFLAGS += -I. -D_GNU_SOURCE -DPIEPROFD_VERSION='"$(VERSION)"' $(FORTIFY)
CFLAGS   += -std=gnu17 -g $(OPTIMISE) $(WARNINGS) -fPIE -fstack-protector-strong $(SANITIZE) $(COUNTERS)
LDFLAGS  += -pie -Wl,-z,relro,-z,now $(SANITIZE) $(COUNTERS)

PACKAGE_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PACKAGES) 2>/dev/null)
# Debian's Zydis and libiberty ship no .pc file.
LIBS := $(shell $(PKG_CONFIG) --libs $(PACKAGES) 2>/dev/null) -lZydis -liberty -lm -lpthread
CMOCKA_LIBS = $(shell $(PKG_CONFIG) --libs cmocka)

quiet = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' $(1) $(2);)

sources = $(wildcard $(1)/*.c $(1)/*/*.c $(1)/*/*/*.c)
objects = $(patsubst %.c,$(O)/%.o,$(filter-out daemon/main.c %.bpf.c,$(call sources,$(1))))
archive = $(O)/lib$(1).a

UNIT_SOURCES := $(wildcard tests/unit/*.c)
UNIT_TESTS   := $(patsubst tests/unit/%.c,$(O)/unit/%,$(UNIT_SOURCES))

.PHONY: all
all: $(O)/pieprofd ## Build the daemon (the default)

$(O)/pieprofd: $(O)/daemon/main.o $(foreach f,daemon symbolize pyintrospect attach common,$(call archive,$(f)))
	$(call quiet,LINK,$@)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(O)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call quiet,CC,$<)$(CC) $(CPPFLAGS) $(CFLAGS) $(PACKAGE_CFLAGS) -MMD -MP -c -o $@ $<

# Its .incbin is unknown to -MMD.
$(O)/daemon/report/html/html_files.o: $(wildcard daemon/report/html/page/*)

# What runs in the kernel. Without a clang that makes such code, as it was last committed:
# attach/bpf/README.md.
CLANG        ?= $(shell command -v clang)
PROGRAMS     := clock mpi allocation
PROGRAM_FLAGS = --target=bpf -O2 -g -fdebug-compilation-dir=. -Wall -Wextra -Wno-unused-parameter \
	-I. -I/usr/include/$(shell $(CC) -print-multiarch)

$(O)/attach/bpf/%.program: attach/bpf/%.bpf.c $(wildcard attach/bpf/*.h) attach/bpf/%.program
	@mkdir -p $(@D)
	$(call quiet,BPF,$@)$(if $(CLANG),$(CLANG) $(PROGRAM_FLAGS) -c -o $@ $<,cp attach/bpf/$*.program $@)

# Which file embeds which program.
define embedding
$(O)/attach/$(1).o $(O)/analyze/gcc/attach/$(1).ok $(O)/analyze/clang/attach/$(1).ok: CPPFLAGS += -D$(3)='"$(O)/attach/bpf/$(2).program"'
$(O)/attach/$(1).o $(O)/analyze/gcc/attach/$(1).ok $(O)/analyze/clang/attach/$(1).ok: $(O)/attach/bpf/$(2).program
endef
$(eval $(call embedding,clock_hub,clock,CLOCK_PROGRAM))
$(eval $(call embedding,mpi_probes,mpi,MPI_PROGRAM))
$(eval $(call embedding,allocation_probes,allocation,ALLOCATION_PROGRAM))

.PHONY: program
program: ## Make attach/bpf/*.program anew, with Debian 12's clang
	$(foreach p,$(PROGRAMS),$(CLANG) $(PROGRAM_FLAGS) -c -o $(or $(PROGRAM_OUT),attach/bpf)/$(p).program attach/bpf/$(p).bpf.c &&) true

define folder_archive
$(call archive,$(1)): $(call objects,$(1))
	@mkdir -p $$(@D)
	$$(call quiet,AR,$$@)rm -f $$@ && $(AR) rcs $$@ $$^
.PHONY: lib-$(1)
lib-$(1): $(call archive,$(1))
endef
$(foreach f,$(FOLDERS),$(eval $(call folder_archive,$(f))))

# A unit test tests/unit/FOLDER_NOUN.c links its folder's archive and common
# alone, so that a call across folders cannot link. daemon sees all of them.
unit_archives = $(if $(filter daemon,$(1)),$(foreach f,daemon symbolize pyintrospect attach common,$(call archive,$(f))),$(call archive,$(1)) $(if $(filter common,$(1)),,$(call archive,common)))
define unit_test
$(O)/unit/$(1): $(O)/tests/unit/$(1).o $(call unit_archives,$(firstword $(subst _, ,$(1))))
	@mkdir -p $$(@D)
	$$(call quiet,LINK,$$@)$$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ $$(LIBS) $$(CMOCKA_LIBS)
.PHONY: unit-$(1)
unit-$(1): $(O)/unit/$(1)
	$$<
endef
$(foreach t,$(patsubst tests/unit/%.c,%,$(UNIT_SOURCES)),$(eval $(call unit_test,$(t))))

# ---- tests: `make test` is for people, `make check` for machines that have all packages

.PHONY: demo
demo: ## Install the build's packages if missing, build, and show a finding in a bundled numpy program
	@sh .ci/install-packages demo
	@$(MAKE) --no-print-directory all
	@tests/tools/demo $(O)/pieprofd

.PHONY: test
test: ## Install what the tests need and pass them
	@sh .ci/install-packages test
	@$(MAKE) --no-print-directory lint
	$(if $(CI),@$(MAKE) --no-print-directory -k -j$$(nproc) analyze-cppcheck analyze-gcc)
	@$(MAKE) --no-print-directory check

.PHONY: check
check: ## Unit and end-to-end tests
	@$(MAKE) --no-print-directory -j$$(nproc) all $(UNIT_TESTS)
	@status=0; \
	$(MAKE) --no-print-directory check-unit || status=1; \
	$(MAKE) --no-print-directory check-e2e || status=1; \
	$(MAKE) --no-print-directory check-fuzz || status=1; \
	$(MAKE) --no-print-directory check-san-short || status=1; \
	exit $$status

.PHONY: unit-tests
unit-tests: $(UNIT_TESTS)

.PHONY: check-unit
check-unit: $(UNIT_TESTS) ## Unit tests, all of them whatever fails
	@WRAPPER="$(WRAPPER)" tests/tools/run-unit $(sort $(UNIT_TESTS))

.PHONY: check-e2e
check-e2e: $(O)/pieprofd $(O)/oracle ## End-to-end tests: the daemon on real Python processes (WORDS='top dump': only those)
	@PIEPROFD="$(abspath $(O)/pieprofd)" $(PYTHON) tests/e2e/run.py $(WORDS)

.PHONY: san
san: ## Unit tests under the address and undefined-behaviour sanitizers
	@$(MAKE) --no-print-directory O=$(O)-san SAN=address,undefined check-unit

.PHONY: check-san
check-san: ## End-to-end tests of a daemon under the sanitizers (an hour; WORDS=NAME: tests with that name)
	@$(MAKE) --no-print-directory O=$(O)-san SAN=address,undefined all $(O)-san/oracle
	@PIEPROFD="$(abspath $(O)-san/pieprofd)" tests/tools/run-sanitized $(PYTHON) tests/e2e/run.py $(WORDS)

.PHONY: check-faults
check-faults: $(O)/pieprofd ## Each system call of the daemon fails in turn, and each allocation (two hours)
	@PIEPROFD="$(abspath $(O)/pieprofd)" $(PYTHON) tests/torture/faults.py --write docs/RELIABILITY.md
	@PIEPROFD="$(abspath $(O)/pieprofd)" $(PYTHON) tests/torture/allocations.py --stride $(or $(STRIDE),1) \
		--write docs/RELIABILITY.md

.PHONY: valgrind
valgrind: ## Unit tests under valgrind
	@$(MAKE) --no-print-directory check-unit \
		WRAPPER="valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite"

.PHONY: coverage
coverage: ## Which lines, branches and functions the tests reach (25 minutes; an HTML page under $(O)-coverage)
	@sh .ci/install-packages analyze
	@$(PYTHON) tests/tools/coverage $(O)-coverage $(WORDS)

# ---- fuzzing: tests/fuzz/FOLDER_NOUN.c, a target each, in a build of its own

FUZZ_CC      ?= clang
FUZZ_SOURCES := $(filter-out tests/fuzz/replay.c,$(wildcard tests/fuzz/*.c))
# How the targets get their inputs: from libFuzzer, or from a main that knows the corpora alone.
FUZZ_ENGINE  ?=
FUZZ_REPLAY  := $(if $(FUZZ_ENGINE),,$(O)/tests/fuzz/replay.o)
FUZZ_PROBE    = echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | \
	$(FUZZ_CC) -w -fsanitize=fuzzer,address -o /dev/null -x c - 2>/dev/null && echo fuzz || echo replay
FUZZ_O        = $(O)-$(shell $(FUZZ_PROBE))

$(O)/fuzz/%: $(O)/tests/fuzz/%.o $(FUZZ_REPLAY) $(foreach f,daemon symbolize pyintrospect attach common,$(call archive,$(f)))
	@mkdir -p $(@D)
	$(call quiet,LINK,$@)$(CC) $(CFLAGS) $(LDFLAGS) $(FUZZ_ENGINE) -o $@ $^ $(LIBS)

# Else they are deleted as intermediate files.
.SECONDARY: $(FUZZ_SOURCES:%.c=$(O)/%.o) $(O)/tests/fuzz/replay.o

.PHONY: fuzz-targets
fuzz-targets: $(patsubst tests/fuzz/%.c,$(O)/fuzz/%,$(FUZZ_SOURCES))

.PHONY: fuzz-build
fuzz-build:
	@case $(FUZZ_O) in \
	*-fuzz) set -- CC=$(FUZZ_CC) DEBUG=1 SAN=fuzzer-no-link,address,undefined FUZZ_ENGINE=-fsanitize=fuzzer ;; \
	*) echo '$(FUZZ_CC) has no libFuzzer: the corpora alone'; set -- SAN=address,undefined ;; \
	esac; \
	$(MAKE) --no-print-directory -j$$(nproc) O=$(FUZZ_O) "$$@" fuzz-targets all

.PHONY: fuzz
fuzz: fuzz-build ## Fuzz the readers of foreign bytes, with clang (SECONDS=600 each; FUZZ=WORD: some)
	@tests/fuzz/run $(FUZZ_O)/fuzz $(or $(SECONDS),600) $(FUZZ)

.PHONY: check-fuzz
check-fuzz: fuzz-build ## Play the fuzzers' corpora, and with clang fuzz for a few seconds
	@FUZZ_JOBS=$$(nproc) FUZZ_SEED=1 FUZZ_TIMEOUT=20 tests/fuzz/run $(FUZZ_O)/fuzz 2

# The fuzzers' objects make a daemon, too: only its link is to be paid for.
SAN_SHORT := command_line.snapshot recording.every_format serve_several.started_again dump.running_thread \
	doctor.doctor_as_root doctor.list_renamed

.PHONY: check-san-short
check-san-short: fuzz-build ## A few end-to-end tests of a daemon under the sanitizers
	@PIEPROFD="$(abspath $(FUZZ_O)/pieprofd)" tests/tools/run-sanitized $(PYTHON) tests/e2e/run.py $(SAN_SHORT)

$(O)/attach_cost: $(O)/tests/bench/attach_cost.o $(foreach f,daemon symbolize pyintrospect attach common,$(call archive,$(f)))
	$(call quiet,LINK,$@)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(O)/fuzz_seeds $(O)/fleet: $(O)/%: $(O)/tests/tools/%.o $(foreach f,daemon symbolize pyintrospect attach common,$(call archive,$(f)))
	$(call quiet,LINK,$@)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

.PHONY: fuzz-seeds
fuzz-seeds: $(O)/fuzz_seeds $(O)/pieprofd ## Make the seeds of the fuzzers' corpora anew
	@tests/fuzz/seeds $(O)/fuzz_seeds

.PHONY: bench
bench: $(O)/pieprofd $(O)/unwind_bench $(O)/native_stacks ## What profiling costs the target, a native stack, opening a report
	@for python in $$(ls /usr/bin/python3.[0-9]* "$$HOME"/.pyenv/versions/*/bin/python3.1[0-9] 2>/dev/null | \
		grep -v config | head -n 2); do $(O)/unwind_bench "$$python"; done
	@$(O)/native_stacks /usr/bin/python3 3600 $(sort $(filter-out %_workload.py,$(wildcard tests/targets/native_*.py)))
	@PIEPROFD="$(abspath $(O)/pieprofd)" $(PYTHON) tests/bench/slowdown.py
	@PIEPROFD="$(abspath $(O)/pieprofd)" $(PYTHON) tests/bench/page.py

.PHONY: bench-cost
bench-cost: $(O)/pieprofd ## What both engines cost nine programs, switched on and off in one run (25 minutes; WORDS='--programs ufuncs')
	@PIEPROFD="$(abspath $(O)/pieprofd)" $(PYTHON) tests/bench/true_cost.py $(WORDS)

.PHONY: scoreboard
scoreboard: $(O)/pieprofd ## Whether the lines known to be wasteful are found (40 minutes; WORDS='--set unseen': half of it)
	@PIEPROFD="$(abspath $(O)/pieprofd)" $(PYTHON) tests/bench/scoreboard.py $(WORDS)

.PHONY: known-shares
known-shares: $(O)/pieprofd $(O)/oracle ## Shares that are known, redundant accesses' and time's, with each engine (five minutes)
	@PIEPROFD="$(abspath $(O)/pieprofd)" $(PYTHON) tests/bench/known_shares.py $(WORDS)

.PHONY: screens
screens: $(O)/pieprofd ## What the first screen says of programs that are slow for one reason (four minutes)
	@PIEPROFD="$(abspath $(O)/pieprofd)" $(PYTHON) tests/bench/screens.py $(WORDS)

.PHONY: peers
peers: $(O)/pieprofd ## What profilers cost their target, from PyPI, beside pieprofd (eight minutes; WORDS='--markdown docs/PEERS.md')
	@PIEPROFD="$(abspath $(O)/pieprofd)" $(PYTHON) tests/bench/peers.py --venv "$(abspath $(O))/peers" $(WORDS)

.PHONY: leaks
leaks: $(O)/pieprofd ## Whether what keeps growing is named, in programs that leak and others (15 minutes; WORDS='--python PYTHON fare')
	@PIEPROFD="$(abspath $(O)/pieprofd)" $(PYTHON) tests/bench/leaks.py $(WORDS)

.PHONY: check-servers
check-servers: $(O)/pieprofd ## Real servers under load, profiled as users would (ten minutes; WORDS='celery ray': only those)
	@PIEPROFD="$(abspath $(O)/pieprofd)" $(PYTHON) tests/servers/run.py $(or $(WORDS),--write docs/MEASURED.md)

.PHONY: check-importers
check-importers: $(O)/pieprofd ## speedscope's and the Firefox Profiler's own importers, from npm, take our files (10 seconds)
	@PIEPROFD="$(abspath $(O)/pieprofd)" $(PYTHON) tests/tools/importers $(WORDS)

.PHONY: torture
torture: $(O)/pieprofd ## What becomes of the target, in every scenario, many times over (15 minutes; PERCENT=10: a tenth of that)
	@PIEPROFD="$(abspath $(O)/pieprofd)" $(PYTHON) tests/torture/run.py --percent $(or $(PERCENT),100) \
		--write docs/RELIABILITY.md

.PHONY: reliability
reliability: ## Every table of docs/RELIABILITY.md anew (two and a half hours)
	@status=0; \
	$(MAKE) --no-print-directory torture || status=1; \
	$(MAKE) --no-print-directory check-faults || status=1; \
	exit $$status

.PHONY: screenshot
screenshot: $(O)/pieprofd ## Make the pictures of docs/ anew
	@tests/tools/screenshot $(O)/pieprofd docs

$(O)/unwind_bench $(O)/native_stacks: $(O)/%: $(O)/tests/bench/%.o $(call archive,symbolize) $(call archive,common)
	$(call quiet,LINK,$@)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(O)/oracle: $(O)/tests/tools/oracle.o $(call archive,attach) $(call archive,common)
	$(call quiet,LINK,$@)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(O)/offsets_table: $(O)/tests/tools/offsets_table.o $(call archive,pyintrospect) $(call archive,common)
	$(call quiet,LINK,$@)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

.PHONY: offsets-table
offsets-table: $(O)/offsets_table ## The generator of the built-in tables, see tests/tools/tables

.PHONY: lint
lint: ## Includes without circles or upward arrows, formatting, licence lines, man pages, script syntax
	@PYTHON="$(PYTHON)" tests/tools/lint

# ---- static analysis: every source file has the same flags, so that no compile_commands.json is needed

# With ANALYZE=1 the build's objects are those that gcc's analyzer has read: one compilation for both.
ANALYSED        := $(filter-out %.bpf.c,$(sort $(foreach f,$(FOLDERS),$(call sources,$(f)))))
ANALYSED_TESTS  := $(sort $(wildcard tests/unit/*.c tests/bench/*.c tests/tools/*.c))
ANALYSED_HEADERS := $(wildcard $(foreach f,$(FOLDERS) tests,$(f)/*.h $(f)/*/*.h $(f)/*/*/*.h))
analysed = $(patsubst %.c,$(O)/analyze/$(1)/%.ok,$(2))

.PHONY: analyze
analyze: ## gcc's analyzer, cppcheck and clang-tidy on every C file
	@sh .ci/install-packages analyze
	@$(MAKE) --no-print-directory -k -j$$(nproc) analyze-cppcheck analyze-gcc analyze-clang

.PHONY: analyze-gcc
analyze-gcc: $(call analysed,gcc,$(ANALYSED))

.PHONY: analyze-clang
analyze-clang: $(call analysed,clang,$(ANALYSED) $(ANALYSED_TESTS))

# gcc 12's analyzer does not see that memory is still known where it was stored through a second pointer; clang's does.
ANALYZER := -fanalyzer -Wno-analyzer-malloc-leak
# It takes reallocarray(3) to free also when it fails,
$(O)/analyze/gcc/daemon/session/group.ok: private ANALYZER += -Wno-analyzer-use-after-free
# and knows nothing of a structure that a function returned.
$(O)/analyze/gcc/attach/emulator_%.ok: private ANALYZER += -Wno-analyzer-use-of-uninitialized-value

# Of tests only bugprone: cmocka's assertions end a test without clang's analyzer knowing it, and tests call system()
# and rand() with a fixed seed. Python programs stand there in lines without commas, bytes without a NUL,
# signed bytes that shall become negative numbers, and quotients that shall be whole.
$(O)/analyze/clang/tests/%.ok: private TIDY := --checks=-clang-analyzer-*,-cert-*,-misc-*,-performance-*,$(strip \
	)-bugprone-suspicious-missing-comma,-bugprone-not-null-terminated-result,$(strip \
	)-bugprone-signed-char-misuse,-bugprone-integer-division
# Long strings are broken there, and gcc is told how to compile a function.
$(O)/analyze/clang/tests/%.ok: private TIDY_CFLAGS := -Wno-string-concatenation -Wno-unknown-attributes

$(O)/analyze/gcc/%.ok: %.c Makefile $(ANALYSED_HEADERS)
	@mkdir -p $(@D)
	$(call quiet,GCC,$<)$(CC) $(CPPFLAGS) $(CFLAGS) $(PACKAGE_CFLAGS) -Werror $(ANALYZER) -c -o $@ $<

ifeq ($(ANALYZE),1)
$(ANALYSED:%.c=$(O)/%.o): $(O)/%.o: $(O)/analyze/gcc/%.ok
	@mkdir -p $(@D)
	@cp $< $@
endif

$(O)/analyze/clang/%.ok: %.c Makefile .clang-tidy $(ANALYSED_HEADERS)
	@mkdir -p $(@D)
	$(call quiet,TIDY,$<)clang-tidy --quiet $(TIDY) $< -- $(CPPFLAGS) $(CFLAGS) $(PACKAGE_CFLAGS) $(TIDY_CFLAGS)
	@touch $@

.PHONY: analyze-cppcheck
analyze-cppcheck:
	@mkdir -p $(O)/analyze/cppcheck
	$(call quiet,CHECK,cppcheck)cppcheck --quiet -j$$(nproc) --cppcheck-build-dir=$(O)/analyze/cppcheck \
		--enable=warning,performance,portability --inline-suppr --suppressions-list=tests/tools/cppcheck-suppressions \
		--std=c11 --library=gnu,posix --error-exitcode=1 $(CPPFLAGS) \
		'-Djson_object_foreach(object,key,value)=while(next(object,&key,&value))' \
		'-Djson_array_foreach(array,index,value)=while(next(array,&index,&value))' $(ANALYSED) $(ANALYSED_TESTS)

# ---- installing and packing

BINDIR  ?= $(PREFIX)/bin
DATADIR ?= $(PREFIX)/share
UNITDIR ?= $(PREFIX)/lib/systemd/system
ZSHDIR  ?= $(DATADIR)/zsh/site-functions

# What is installed, and uninstalled.
INSTALLED := $(BINDIR)/pieprofd \
	$(foreach page,$(notdir $(wildcard man/*.[58])),$(DATADIR)/man/man$(subst .,,$(suffix $(page)))/$(page)) \
	$(DATADIR)/bash-completion/completions/pieprofd $(ZSHDIR)/_pieprofd \
	$(DATADIR)/fish/vendor_completions.d/pieprofd.fish $(UNITDIR)/pieprofd@.service \
	$(DATADIR)/pieprofd/seccomp.json

.PHONY: install
install: $(O)/pieprofd ## Install under $(DESTDIR)$(PREFIX): program, man pages, completion, systemd unit
	install -D -m 755 $(O)/pieprofd $(DESTDIR)$(BINDIR)/pieprofd
	install -d $(DESTDIR)$(DATADIR)/man/man5 $(DESTDIR)$(DATADIR)/man/man8
	install -m 644 man/*.5 $(DESTDIR)$(DATADIR)/man/man5
	install -m 644 man/*.8 $(DESTDIR)$(DATADIR)/man/man8
	install -D -m 644 .packaging/completion/pieprofd.bash $(DESTDIR)$(DATADIR)/bash-completion/completions/pieprofd
	install -D -m 644 .packaging/completion/_pieprofd $(DESTDIR)$(ZSHDIR)/_pieprofd
	install -D -m 644 .packaging/completion/pieprofd.fish $(DESTDIR)$(DATADIR)/fish/vendor_completions.d/pieprofd.fish
	install -D -m 644 .packaging/container/seccomp.json $(DESTDIR)$(DATADIR)/pieprofd/seccomp.json
	install -d $(DESTDIR)$(UNITDIR)
	sed 's|@BINDIR@|$(BINDIR)|' .packaging/systemd/pieprofd@.service.in >$(DESTDIR)$(UNITDIR)/pieprofd@.service
	chmod 644 $(DESTDIR)$(UNITDIR)/pieprofd@.service

.PHONY: uninstall
uninstall: ## Remove what install has put there
	rm -f $(addprefix $(DESTDIR),$(INSTALLED))

# The package's own tree, so that debian/ need not lie at the top of this one.
PACKED := $(wildcard Makefile README.md LICENSE .ci .packaging common attach symbolize pyintrospect daemon docs man tests)

.PHONY: deb
deb: ## Debian package in $(O)/deb, looked at by lintian if that is there
	rm -rf $(O)/deb
	mkdir -p $(O)/deb/pieprofd-$(VERSION)
	tar --exclude=__pycache__ -cf - $(PACKED) | tar -C $(O)/deb/pieprofd-$(VERSION) -xf -
	cp -R .packaging/debian $(O)/deb/pieprofd-$(VERSION)/debian
	sed -e 's/@VERSION@/$(VERSION)/' -e "s/@DATE@/$$(date -R -u $${SOURCE_DATE_EPOCH:+-d @$$SOURCE_DATE_EPOCH})/" \
		.packaging/debian/changelog.in >$(O)/deb/pieprofd-$(VERSION)/debian/changelog
	cd $(O)/deb/pieprofd-$(VERSION) && rm debian/changelog.in && \
		env -u MAKEFLAGS -u MAKELEVEL -u CI -u O dpkg-buildpackage -us -uc -b
	@if command -v lintian >/dev/null; then \
		lintian --allow-root --fail-on error,warning --info --tag-display-limit 0 $(O)/deb/*.changes; \
	else echo 'skipped: lintian is not installed'; fi

.PHONY: wheel
wheel: $(O)/pieprofd ## Python wheel in $(O)/wheel: the program, its libraries, and what calls it from Python
	@PYTHON="$(PYTHON)" .packaging/python/make-wheel $(O)/pieprofd $(VERSION) $(O)/wheel

.PHONY: check-wheel
check-wheel: wheel ## Installs the wheel, also in later Debian suites' root trees where they are there, and uses it (a minute)
	@tests/tools/check-wheel $(O)/wheel/*.whl

.PHONY: check-packaging
check-packaging: ## The Debian package, its contents, the unit, and the Kubernetes examples (minutes)
	@sh .ci/install-packages packaging
	@$(MAKE) --no-print-directory deb
	@tests/tools/check-packaging $(O)/deb

.PHONY: check-kernel
check-kernel: $(O)/pieprofd ## Debian's kernels 6.1 and 6.12 in qemu, and most of what is done there (20 minutes; WORDS=bookworm: that one)
	@sh .ci/install-packages kernel
	@$(PYTHON) tests/tools/check-kernel $(O)/pieprofd $(or $(WORDS),--write docs/MEASURED.md)

.PHONY: check-fresh
check-fresh: ## The demo and the tests in a pristine Debian 12: root or sudo, OpenBLAS or not (two hours; TESTS=none: the demo alone)
	@sh .ci/install-packages containers
	@tests/tools/check-fresh $(WHICH)

.PHONY: check-containers
check-containers: $(O)/pieprofd ## Images with the package: podman, rootful and rootless, a sidecar, systemd with the unit (15 minutes)
	@sh .ci/install-packages containers
	@tests/tools/check-containers $(O)/pieprofd $(WHICH)

.PHONY: dist
dist: ## Source archive of the last commit
	@mkdir -p $(O)
	git archive --format=tar --prefix=pieprofd-$(VERSION)/ HEAD | gzip -9n >$(O)/pieprofd-$(VERSION).tar.gz

.PHONY: help
help: ## This list
	@echo 'Targets:'
	@sed -n 's/^\([a-z][a-z0-9-]*\):[^#]*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | \
		awk -F'|' '{ printf "  %-15s %s\n", $$1, $$2 }'
	@echo 'Settings: O=FOLDER (build), V=1 (show commands), DEBUG=1 (-Og), SAN=address,undefined, COVERAGE=1,'
	@echo '          CI=1 (warnings are errors), PREFIX=/usr/local, DESTDIR=, PYTHON=python3'

.PHONY: clean
clean: ## Remove the build folder
	rm -rf $(O)

-include $(shell find $(O) -path $(O)/deb -prune -o -name '*.d' -type f -print 2>/dev/null)

# SPDX-License-Identifier: Apache-2.0
# pieprofd: plain GNU Make, non-recursive. `make help` lists the targets.

O     ?= build
V     ?= 0
DEBUG ?= 0
SAN   ?=

VERSION := 0.1.0
PREFIX  ?= /usr/local
DESTDIR ?=

CC         ?= cc
PKG_CONFIG ?= pkg-config
PYTHON     ?= python3

FOLDERS  := common attach symbolize pyintrospect daemon
PACKAGES := libunwind-ptrace libunwind-generic libdw libelf jansson

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wundef \
	-Wwrite-strings -Wvla -Wformat=2 -Wimplicit-fallthrough -Wpointer-arith -Wcast-qual
ifneq ($(CI),)
WARNINGS += -Werror
endif

OPTIMISE := $(if $(filter 1,$(DEBUG)),-Og,-O2)
FORTIFY  := $(if $(filter 1,$(DEBUG))$(SAN),,-D_FORTIFY_SOURCE=2)
SANITIZE := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all)

CPPFLAGS += -I. -D_GNU_SOURCE -DPIEPROFD_VERSION='"$(VERSION)"' $(FORTIFY)
CFLAGS   += -std=gnu17 -g $(OPTIMISE) $(WARNINGS) -fPIE -fstack-protector-strong $(SANITIZE)
LDFLAGS  += -pie -Wl,-z,relro,-z,now $(SANITIZE)

PACKAGE_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PACKAGES) 2>/dev/null)
# Debian's Zydis ships no .pc file.
LIBS := $(shell $(PKG_CONFIG) --libs $(PACKAGES) 2>/dev/null) -lZydis -lpthread
CMOCKA_LIBS = $(shell $(PKG_CONFIG) --libs cmocka)

quiet = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' $(1) $(2);)

sources = $(wildcard $(1)/*.c) $(wildcard $(1)/*/*.c)
objects = $(patsubst %.c,$(O)/%.o,$(filter-out daemon/main.c,$(call sources,$(1))))
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

.PHONY: clean
clean: ## Remove the build folder
	rm -rf $(O)

-include $(shell find $(O) -name '*.d' 2>/dev/null)

# fstune: build, tests and tools. `make help` lists the targets; V=1 shows the commands.
#
# Every build (BUILD=release, debug, asan, tsan, cov, m32) has its own tree build/NAME/ with one archive per folder; a test
# of bench/ or models/ links the archives of its folder and of those below it, so that an include in the wrong direction does not link.

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
# As many jobs as processors, unless the command line says otherwise.
MAKEFLAGS += --no-builtin-rules -j$(shell nproc 2>/dev/null || echo 2)

VERSION := 0.1.0
BUILD   ?= release
PREFIX  ?= /usr/local
DESTDIR ?=
# Where quickstart measures.
DIR     ?= $(CURDIR)
# Part of a test's path: `make check T=bench/` runs only those.
T       ?=
# Packagers build with whatever compiler they have; .ci/run sets this to -Werror.
WERROR  ?=

ifeq ($(origin CC),default)
CC := gcc
endif
Q   := $(if $(filter 1,$(V)),,@)
say  = $(if $(Q),$(info $() $() $(1)	$(2)))
# A directory is made once in a run of make, and without a process for each object.
make_dir = $(if $(made_$(@D)),,$(eval made_$(@D) := yes)$(shell mkdir -p $(@D)))

# ---- sources ---------------------------------------------------------------------------------------------------

builds := release debug asan tsan cov m32
floors := bench models tuner

ifeq ($(filter $(BUILD),$(builds) static),)
$(error BUILD=$(BUILD) is unknown; use one of: $(builds) static)
endif

# The folders, the lowest first.
layers  := $(shell sed -n 's|^\([a-z]*/[a-z]*\):.*|\1|p' tests/lint/layers)
ifeq ($(layers),)
$(error tests/lint/layers lists no folder)
endif
# The library that is loaded into recorded programs: its wrappers must not stand before libc's in our own programs, so their folder has no
# archive, and the rest of it comes from folders that have one.
wrappers := bench/collector
loaded   := libfstune-profile.so libfstune-memory.so
folders  := $(layers)
layers   := $(filter-out $(wrappers),$(layers))

# What stands in *.bpf.c is compiled for the kernel.
sources = $(filter-out %.bpf.c,$(wildcard $(1)/*.c))
library_sources = $(filter-out tuner/commands/main.c tuner/impact/atoms_helper.c tuner/nightly/disk_plugin.c tuner/profile/agent.c $(mpi_sources),$(call sources,$(1)))
# Compiled with mpicc, for fstune-mpi alone.
mpi_sources := tuner/search/link_mpi.c tuner/commands/main_mpi.c
test_sources := $(wildcard $(layers:%=tests/%/test_*.c))
# What stands in tests/ is linked into every test program, what stands beside the folders of a floor's tests into each of those.
helper_sources = $(call sources,tests) $(call sources,tests/$(1))
perf_sources := $(call sources,tests/perf)
statistics_sources := $(call sources,tests/statistics)
compare_sources := $(call sources,tests/compare)
study_sources := $(call sources,tests/study)
fuzz_sources := $(call sources,tests/fuzz)
collector_sources := $(filter-out %/wrap_memory.c,$(call sources,$(wrappers))) \
                     $(filter-out $(addprefix models/profile/,summary.c zipf.c phases.c heap.c look.c look_streams.c),$(call sources,models/profile)) \
                     tuner/profile/collector_sink.c bench/base/clock.c bench/base/clock_quick.c
# fstune-agent is compiled at once, by musl's compiler where there is one: its libc makes a static program of a tenth of the size.
agent_sources := $(addprefix tuner/profile/,agent.c agent_send.c record.c record_dead.c record_events.c record_memory.c) $(addprefix tuner/base/,interrupt.c words.c) \
                 $(addprefix bench/profile/,cpu_samples.c hardware_counters.c family.c launch.c wire.c program.c shared_memory.c) $(addprefix bench/base/,clock.c clock_quick.c err.c units.c) \
                 $(filter-out $(addprefix models/profile/,summary.c zipf.c phases.c look.c look_streams.c),$(call sources,models/profile))
agent_headers := $(wildcard bench/base/*.h bench/profile/*.h models/profile/*.h tuner/base/*.h tuner/profile/*.h tuner/store/*.h)
memory_sources := bench/collector/wrap_memory.c models/profile/heap.c tuner/profile/memory_sink.c bench/base/clock.c
engine_sources := $(foreach f,statistics surrogate search engine library,$(call sources,models/$(f)))
# The plugin of nbdkit holds its own copy of what it needs, and shows nothing but its entry.
plugin_sources := $(foreach f,base host io target disk,$(call sources,bench/$(f))) $(engine_sources) $(call sources,models/online) models/profile/stream.c \
                  $(wildcard tuner/nightly/disk*.c) tuner/base/metrics_text.c tuner/base/replace.c tuner/base/trust.c
own_code := $(wildcard $(folders:%=%/*.[ch]) tests/*.[ch] tests/*/*.[ch] tests/*/*/*.[ch])
own_sources := $(filter-out %.bpf.c,$(filter %.c,$(own_code)))

# Tests by name: *_fs need a real file system and time (check-io), *_slow need minutes (check-slow).
wanted := $(if $(T),$(foreach t,$(test_sources),$(if $(findstring $(T),$(t)),$(t))),$(test_sources))
fs_tests   := $(filter %_fs.c,$(wanted))
slow_tests := $(filter %_slow.c,$(wanted))
# Studies run without options are a smoke test of a few seconds.
smoke_studies := $(if $(T),$(foreach t,$(study_sources),$(if $(findstring $(T),$(t)),$(t))),$(study_sources))
fast_tests := $(filter-out $(fs_tests) $(slow_tests),$(wanted))
fuzz_targets := $(if $(T),$(foreach t,$(fuzz_sources),$(if $(findstring $(T),$(t)),$(t))),$(fuzz_sources))

programs = $(patsubst %.c,build/$(2)/%,$(1))
objects  = $(patsubst %.c,build/$(2)/%.o,$(1))

# ---- flags -----------------------------------------------------------------------------------------------------

warnings := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wvla -Wformat=2 -Wstrict-prototypes -Wmissing-prototypes
# Sizes of files and times of 64 bits on 32-bit machines too.
cpp_flags := -I. -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64 -DFSTUNE_VERSION='"$(VERSION)"'

m32_root := $(CURDIR)/build/m32/sysroot/root/usr
sanitize_asan := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
sanitize_tsan := -fsanitize=thread -fno-omit-frame-pointer
sanitize_fuzz := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# Instrumented code hides from gcc what bounds a value: these two then warn of what cannot happen. The other builds keep them.
blind_to      := -Wno-format-truncation -Wno-maybe-uninitialized

# -U first: some distributions predefine another level, which would be a warning.
compile_release := -O2 -g -fno-plt -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
compile_collector := -O2 -flto -g -fPIC -fvisibility=hidden -ftls-model=initial-exec -fstack-protector-strong
compile_agent   := -Os -ffunction-sections -fdata-sections -fstack-protector-strong -static -Wl,--gc-sections -s
compile_debug   := -Og -g -DFSTUNE_DEBUG
# Without SSE2 doubles would have more bits in registers than in memory, and a simulated search other results. What is put into a
# size_t is bounded, or checked by arena_map; -Wconversion cannot know.
compile_m32     := $(compile_release) -g1 -m32 -msse2 -mfpmath=sse -isystem $(m32_root)/include -Wno-conversion -Wno-psabi
compile_asan    := -O1 -g1 -DFSTUNE_DEBUG $(sanitize_asan) $(blind_to)
compile_tsan    := -O1 -g $(sanitize_tsan) $(blind_to)
compile_cov     := -O0 -g --coverage
# -Wformat=2 means more to clang than to gcc.
compile_fuzz    := -O1 -g $(sanitize_fuzz) -fsanitize=fuzzer-no-link -Wno-format-nonliteral
link_release    := -Wl,-z,relro,-z,now
link_asan       := $(sanitize_asan)
link_tsan       := $(sanitize_tsan)
link_cov        := --coverage
link_m32        := $(link_release) -L$(m32_root)/lib/i386-linux-gnu -Wl,-rpath,$(m32_root)/lib/i386-linux-gnu
link_fuzz       := $(sanitize_fuzz) -fsanitize=fuzzer

# pkg-config is asked once, when the first recipe needs it: when make reads this file on a fresh machine, it may not be installed yet.
packages_bench  := liburing zlib blkid
packages_models := gsl
packages_tuner  := liburing zlib blkid gsl libconfig jansson sqlite3
# $(1): --cflags or --libs, $(2): floor whose packages are meant. Static archives, and those of 32 bits, do not say what they need in turn.
pkg_key     = pkg$(1)-$(2)$(pkg_kind)
pkg_answer  = $(if $(filter undefined,$(origin $(pkg_key))),$(eval $(pkg_key) := $(shell $(pkg_config$(pkg_kind)) $(1) $(packages_$(2)))))$($(pkg_key))
pkg_config         := pkg-config
pkg_config-static  := pkg-config --static
pkg_config-m32     := PKG_CONFIG_LIBDIR=$(m32_root)/lib/i386-linux-gnu/pkgconfig pkg-config --static
build/static/%: pkg_kind := -static
build/m32/%: pkg_kind := -m32
pkg_flags   = $(call pkg_answer,--cflags,tuner)
libs_bench  = $(call pkg_answer,--libs,bench) -laio -pthread -lm
libs_models = $(call pkg_answer,--libs,models) -lm
libs_tuner  = $(call pkg_answer,--libs,tuner) -laio -lcrypt -pthread -lm

# $(1): list. The same from the end.
reverse = $(if $(1),$(call reverse,$(wordlist 2,$(words $(1)),$(1))) $(firstword $(1)))
# $(1): list, $(2): word of it. What stands up to the word.
up_to = $(if $(1),$(firstword $(1)) $(if $(filter $(2),$(firstword $(1))),,$(call up_to,$(wordlist 2,$(words $(1)),$(1)),$(2))))
folders_of = $(filter $(1)/%,$(layers))

# $(1): build, $(2): folder, or tuner for all. Archives that its programs link, users before the used.
archives_below = $(patsubst %,build/$(1)/%.a,$(call reverse,$(call up_to,$(call folders_of,$(firstword $(subst /, ,$(2)))),$(2))))
archives_tuner = $(call archives_below,$(1),tuner) $(call archives_below,$(1),bench) $(call archives_below,$(1),models)
archives_of    = $(if $(filter tuner%,$(2)),$(archives_tuner),$(archives_below))

# ---- packages --------------------------------------------------------------------------------------------------

# package:sign that it is there - a path, a header for the compiler to find, else a command
needed     := gcc:$(firstword $(CC)) libc6-dev:stdio.h pkg-config:pkg-config libgsl-dev:gsl/gsl_version.h \
              libconfig-dev:libconfig.h libcmocka-dev:cmocka.h liburing-dev:liburing.h libaio-dev:libaio.h \
              libblkid-dev:blkid/blkid.h libcrypt-dev:crypt.h libpq-dev:postgresql/libpq-fe.h libbpf-dev:bpf/libbpf.h \
              libjansson-dev:jansson.h libsqlite3-dev:sqlite3.h zlib1g-dev:zlib.h
needed_faults := libfuse3-dev:fuse3/fuse_opt.h fuse3:fusermount3 python3:python3
# The guest's kernel and busybox are not installed: tests/guest/fetch.
needed_network = $(needed_guest) samba:smbd iproute2:/sbin/tc mount:/sbin/losetup lvm2:/sbin/lvm
needed_guest := qemu-system-x86:qemu-system-x86_64 qemu-utils:qemu-img cpio:cpio e2fsprogs:/sbin/mke2fs strace:strace python3:python3
needed_guest_disk = $(needed_guest) $(needed_check_disk) debootstrap:/usr/sbin/debootstrap
needed_agent := musl-tools:musl-gcc
needed_disk := nbdkit-plugin-dev:nbdkit-plugin.h
needed_check_disk := nbdkit:nbdkit fio:fio qemu-utils:qemu-img python3:python3 libnbd-bin:nbdcopy python3-libnbd:/usr/lib/python3/dist-packages/nbd.py \
                     mount:/sbin/losetup e2fsprogs:/sbin/mke2fs xfsprogs:/sbin/mkfs.xfs
needed_fleet := python3:python3 postgresql-15:/usr/lib/postgresql/*/bin/postgres libpq5:/usr/lib/*/libpq.so.5
needed_live := fio:fio python3:python3 python3-optuna:/usr/lib/python3/dist-packages/optuna/__init__.py
needed_profile := fio:fio strace:strace python3:python3 rocksdb-tools:db_bench \
                  postgresql-15:/usr/lib/postgresql/*/bin/postgres
needed_plots := gnuplot-nox:gnuplot
needed_check_plots := $(needed_plots) python3-pil:/usr/lib/python3/dist-packages/PIL
needed_page := chromium:chromium python3:python3
# Open MPI's or MPICH's.
MPICC       ?= mpicc
# Of hardware events of profile; without them it says that it was built so.
needed_papi := libpapi-dev:papi.h libpfm4-dev:perfmon/pfmlib_perf_event.h
needed_dev := $(needed_papi) libopenmpi-dev:$(MPICC) nbdkit-plugin-dev:nbdkit-plugin.h clang-format:clang-format clang-tidy:clang-tidy cppcheck:cppcheck libfuse3-dev:fuse3/fuse_opt.h
python_packages := /usr/lib/python3/dist-packages
needed_schemas := python3:python3 python3-jsonschema:$(python_packages)/jsonschema
needed_compare  := g++:$(CXX) libdlib-dev:/usr/include/dlib/global_optimization.h python3-optuna:$(python_packages)/optuna \
                   python3-cmaes:$(python_packages)/cmaes python3-sklearn:$(python_packages)/sklearn python3-nlopt:$(python_packages)/nlopt.py
# Consumers of snippets; a check whose consumer is missing says that it is skipped.
needed_snippets := python3:python3 qemu-system-x86:qemu-system-x86_64 qemu-utils:qemu-img libxml2-utils:xmllint libvirt-clients:virsh \
                   libvirt-daemon:/usr/sbin/libvirtd libvirt-daemon-driver-qemu:/usr/lib/*/libvirt/connection-driver/libvirt_driver_qemu.so \
                   fio:fio postgresql-15:/usr/lib/postgresql/15/bin/postgres mariadb-server-core:mariadbd rocksdb-tools:ldb \
                   python3-yaml:$(python_packages)/yaml libxenmisc4.17:/usr/lib/*/libxlutil.so.4.17
# libFuzzer comes with clang alone.
FUZZ_CC     ?= clang-14
needed_mpi := libopenmpi-dev:$(MPICC) openmpi-bin:mpirun
needed_fuzz := $(FUZZ_CC):$(FUZZ_CC) \
               $(FUZZ_CC:clang%=libclang-rt%-dev):/usr/lib/llvm$(FUZZ_CC:clang%=%)/lib/clang/*/include/fuzzer/FuzzedDataProvider.h

# $(1): the pairs; $(2): `install` the missing ones, or only `report` them; $(3): the exit code where some stay missing.
define look-for-packages
	@look() { \
	    missing=; \
	    for pair in $(1); do \
	        sign=$${pair#*:}; \
	        case $$sign in \
	        /*) ls $$sign >/dev/null 2>&1 ;; \
	        *.h) printf '#include <stdarg.h>\n#include <stddef.h>\n#include <setjmp.h>\n#include <stdint.h>\n#include <%s>\n' $$sign \
	             | $(CC) -E -x c - >/dev/null 2>&1 ;; \
	        *) command -v $$sign >/dev/null 2>&1 ;; \
	        esac || missing="$$missing $${pair%%:*}"; \
	    done; \
	}; \
	look; \
	[ -n "$$missing" ] || exit 0; \
	root=; [ "$$(id -u)" = 0 ] || root=$$(command -v sudo) || root=none; \
	if [ $(2) = install ] && [ "$$root" != none ] && command -v apt-get >/dev/null 2>&1; then \
	    echo "installing:$$missing"; \
	    $$root apt-get update -qq || echo "fstune: the package lists could not be refreshed; trying with the old ones" >&2; \
	    $$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
	        -o DPkg::Lock::Timeout=600 $$missing >/dev/null; \
	    look; \
	    [ -n "$$missing" ] || exit 0; \
	fi; \
	echo "fstune: missing packages (Debian's names):$$missing; install them, as root: apt-get install$$missing" >&2; \
	exit $(or $(3),1)
endef

# Goals that install what is missing; every other build only names it.
self_helping := check mpi check-mpi check-disk check-fleet check-statistics check-io check-faults check-kills check-guest check-guest-disk check-network check-page check-plots check-profile check-schemas check-snippets check-packaging check-deb deb check-slow check-asan check-tsan check-m32 check-valgrind coverage bench compare compare-live compare-programs compare-programs-live compare-smoke quickstart deps deps-dev lint
before_build := $(if $(filter fuzz,$(MAKECMDGOALS)),deps-fuzz,$(if $(filter $(self_helping),$(MAKECMDGOALS)),deps,packages))

.PHONY: deps deps-dev deps-compare deps-mpi deps-check-mpi deps-check-disk deps-check-plots deps-disk deps-faults deps-fuzz deps-guest deps-guest-disk deps-live deps-network deps-page deps-profile deps-schemas deps-snippets deps-valgrind packages

deps: ## install the packages that the build and the tests need (Debian and its kin)
	$(call look-for-packages,$(needed),install)
	$(call look-for-packages,$(needed_agent),install,0)

deps-dev: deps ## install the tools of `make lint` too
	$(call look-for-packages,$(needed_dev),install)

deps-compare: deps
	$(call look-for-packages,$(needed_compare),install)

deps-disk: deps
	$(call look-for-packages,$(needed_disk),install)

# Without them the check of the disk says that it is skipped.
deps-check-disk: deps
	$(call look-for-packages,$(needed_check_disk),install,0)

# Without them the tests of faults say that they are skipped.
deps-faults: deps
	$(call look-for-packages,$(needed_faults),install,0)

# Without them the proof in a guest says that it is skipped.
deps-guest: deps
	$(call look-for-packages,$(needed_guest),install,0)
deps-guest-disk: deps
	$(call look-for-packages,$(needed_guest_disk),install,0)
deps-network: deps
	$(call look-for-packages,$(needed_network),install,0)

# Without them the check of pages says that it is skipped.
deps-page: deps
	$(call look-for-packages,$(needed_page),install,0)

# Without them the check of schemas says that it is skipped.
deps-schemas: deps
	$(call look-for-packages,$(needed_schemas),install,0)

deps-mpi: deps
	$(call look-for-packages,$(needed_mpi),install)
# Without them the check of several clients says that it is skipped.
deps-check-mpi: deps
	$(call look-for-packages,$(needed_mpi) python3:python3,install,0)

deps-live: deps
	$(call look-for-packages,$(needed_live),install)

deps-snippets: deps
	$(call look-for-packages,$(needed_snippets),install,0)

# Without them the truth of profiles says that it is skipped.
deps-profile: deps
	$(call look-for-packages,$(needed_profile),install,0)

deps-valgrind: deps
	$(call look-for-packages,valgrind:valgrind,install)

deps-fuzz: deps
	$(call look-for-packages,$(needed_fuzz),install)

packages:
	$(call look-for-packages,$(filter-out libcmocka-dev:%,$(needed)),report)

# ---- rules, once per build -------------------------------------------------------------------------------------

# $(1): build
define rules-of-objects
build/$(1)/%.o: %.c Makefile | $(before_build)
	$$(call say,CC,$$@)
	$$(make_dir)
	$$(Q)$$(CC) -std=c17 $$(cpp_flags) $$(warnings) $$(WERROR) $$(compile_$(1)) $$(CPPFLAGS) $$(CFLAGS) $$(pkg_flags) \
	    -MMD -MP -c $$< -o $$@

$(foreach f,$(layers),$(eval $(call rules-of-folder,$(1),$(f))))
endef

# $(1): build
define rules-of-build
$(call rules-of-objects,$(1))

build/$(1)/fstune: build/$(1)/tuner/commands/main.o $(call archives_tuner,$(1))
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) $$(compile_$(1)) $$(CFLAGS) $$(link_$(1)) $$(LDFLAGS) $$^ $$(libs_tuner) -o $$@

# For several clients. mpicc knows MPI's headers and libraries; it calls the same compiler.
$(mpi_sources:%.c=build/$(1)/%.o): build/$(1)/%.o: %.c Makefile | deps-mpi
	$$(call say,MPICC,$$@)
	@mkdir -p $$(@D)
	$$(Q)$(MPICC) -std=c17 $$(cpp_flags) $$(warnings) $$(WERROR) $$(compile_$(1)) $$(CPPFLAGS) $$(CFLAGS) -MMD -MP -c $$< -o $$@
build/$(1)/fstune-mpi: $(mpi_sources:%.c=build/$(1)/%.o) $(call archives_tuner,$(1))
	$$(call say,LINK,$$@)
	$$(Q)$(MPICC) $$(compile_$(1)) $$(CFLAGS) $$(link_$(1)) $$(LDFLAGS) $$^ $$(libs_tuner) -o $$@

# For guests: it takes from the archives what the atomic tests need alone.
build/$(1)/fstune-atoms: build/$(1)/tuner/impact/atoms_helper.o $(call archives_tuner,$(1))
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) $$(compile_$(1)) $$(CFLAGS) $$(link_$(1)) $$(LDFLAGS) $$^ $$(libs_tuner) -o $$@

# Other flags than a program's: it is loaded anywhere, shows nothing but its wrappers, and stands before what fortified headers declare.
collector_objects_$(1) := $(collector_sources:%.c=build/$(1)/shared/%.o)
memory_objects_$(1) := $(memory_sources:%.c=build/$(1)/shared/%.o)
$$(sort $$(collector_objects_$(1)) $$(memory_objects_$(1))): build/$(1)/shared/%.o: %.c Makefile | $(before_build)
	$$(call say,CC,$$@)
	$$(make_dir)
	$$(Q)$$(CC) -std=c17 $$(cpp_flags) $$(warnings) $$(WERROR) $$(compile_collector) $$(CPPFLAGS) $$(CFLAGS) -U_FORTIFY_SOURCE -MMD -MP -c $$< -o $$@

build/$(1)/libfstune-profile.so: $$(collector_objects_$(1))
build/$(1)/libfstune-memory.so: $$(memory_objects_$(1))
build/$(1)/libfstune-profile.so build/$(1)/libfstune-memory.so:
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) $$(compile_collector) $$(CFLAGS) -shared $$(link_release) $$(LDFLAGS) $$^ -o $$@

# The kernel's headers are those of the system, behind libc's own.
build/$(1)/fstune-agent: $(agent_sources) $(agent_headers) Makefile | $(before_build)
	$$(call say,LINK,$$@)
	$$(make_dir)
	$$(Q)cc=$$$$(command -v musl-gcc) || cc='$$(CC)'; kernel=/usr/include; \
	    $$$$cc -std=c17 $$(cpp_flags) $$(warnings) $$(WERROR) $$(compile_agent) -idirafter $$$$kernel -idirafter $$$$kernel/$$$$($$(CC) -print-multiarch) \
	    $(agent_sources) -o $$@

# libfstune for other programs: the engine behind its public header.
engine_objects_$(1) := $(engine_sources:%.c=build/$(1)/pic/%.o)
plugin_objects_$(1) := $(plugin_sources:%.c=build/$(1)/pic/%.o)
$$(sort $$(engine_objects_$(1)) $$(plugin_objects_$(1))): build/$(1)/pic/%.o: %.c Makefile | $(before_build)
	$$(call say,CC,$$@)
	$$(make_dir)
	$$(Q)$$(CC) -std=c17 $$(cpp_flags) $$(warnings) $$(WERROR) $$(compile_$(1)) -fPIC $$(CPPFLAGS) $$(CFLAGS) -MMD -MP -c $$< -o $$@

build/$(1)/libfstune.so.0: $$(engine_objects_$(1)) models/library/fstune.map
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) $$(compile_$(1)) $$(CFLAGS) -shared -Wl,-soname,libfstune.so.0 -Wl,--version-script=models/library/fstune.map $$(link_$(1)) $$(LDFLAGS) \
	    $$(engine_objects_$(1)) -lgsl -lgslcblas -lm -o $$@

# One object that shows its own functions alone, so that its other names meet none of the program's.
build/$(1)/libfstune.a: $$(engine_objects_$(1))
	$$(call say,AR,$$@)
	$$(Q)rm -f $$@ && $$(LD) -r $$^ -o $$(@:.a=.o) && objcopy --wildcard --keep-global-symbol='fst_*' $$(@:.a=.o) && $$(AR) rcs $$@ $$(@:.a=.o)

build/$(1)/nbdkit-fstune-plugin.so: $$(plugin_objects_$(1)) tuner/nightly/disk_plugin.map | deps-disk
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) $$(compile_$(1)) $$(CFLAGS) -shared -Wl,--version-script=tuner/nightly/disk_plugin.map $$(link_$(1)) $$(LDFLAGS) \
	    $$(plugin_objects_$(1)) $$(libs_tuner) -o $$@
build/$(1)/pic/tuner/nightly/disk_plugin.o: | deps-disk

$(foreach t,$(test_sources),$(eval $(call rules-of-test,$(1),$(patsubst tests/%/,%,$(dir $(t))),$(t:%.c=%))))
$(foreach t,$(perf_sources) $(statistics_sources) $(compare_sources) $(study_sources),$(eval $(call rules-of-test,$(1),tuner,$(t:%.c=%))))
endef

# $(1): build, $(2): folder. The archive is written anew, so that no object of a removed source lives on in it.
define rules-of-folder
build/$(1)/$(2).a: $(call objects,$(call library_sources,$(2)),$(1)) | $(before_build)
	$$(call say,AR,$$@)
	$$(make_dir)
	$$(Q)rm -f $$@ && $$(AR) rcs $$@ $$^
endef

# $(1): build, $(2): folder, or tuner for all; $(3): source without .c. A line /* LINK: flags */ in the source adds flags for the linker.
define rules-of-test
build/$(1)/$(3): build/$(1)/$(3).o $(call objects,$(call helper_sources,$(firstword $(subst /, ,$(2)))),$(1)) $(call archives_of,$(1),$(2))
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) $$(compile_$(1)) $$(CFLAGS) $$(link_$(1)) $$(LDFLAGS) $$^ \
	    $$$$(sed -n 's|^/\* LINK: \(.*\) \*/$$$$|\1|p' $(3).c) -lcmocka $$(libs_$(firstword $(subst /, ,$(2)))) -o $$@
endef

$(foreach b,$(builds),$(eval $(call rules-of-build,$(b))))

# ccache's direct mode does not notice that a header has come which __has_include had not found.
%/papi_library.o %/papi_names.o %/hardware_list.o %/test_papi_names.o %/test_hardware_list.o: export CCACHE_NODIRECT := 1

# The page of `fstune report --html`: style and script between their tags, and in the page's policy their digests. The assembler reads it, unseen by -MMD.
page := tuner/picture/page_assets
page_scripts := $(patsubst %,$(page)/%.js,data charts sections page)
digest_of = $$( (echo; cat $(1)) | sha256sum | cut -c 1-64 | tr a-f A-F | basenc --base16 --decode | base64)
build/page.html: $(page)/page.html $(page)/page.css $(page_scripts) Makefile
	@mkdir -p $(@D)
	$(Q)cat $(page_scripts) >$@.js
	$(Q)sed -e "s|{{style-digest}}|$(call digest_of,$(page)/page.css)|; s|{{script-digest}}|$(call digest_of,$@.js)|" \
	    -e '/^{{style}}$$/ { r $(page)/page.css' -e 'd }' -e '/^{{script}}$$/ { r $@.js' -e 'd }' $< >$@.new && mv $@.new $@ && rm $@.js

$(patsubst %,build/%/tuner/picture/page_assets.o,$(builds) fuzz): build/page.html

# What fstune profile loads into the kernel. clang is large, and only this needs it: where it is missing the
# object is empty, and the command says so.
build/trace.bpf.o: bench/profile/trace.bpf.c bench/profile/trace_event.h bench/profile/trace_kernel.h \
    bench/profile/trace_file.h bench/profile/trace_flight.h Makefile | $(before_build)
	$(call say,BPF,$@)
	@mkdir -p $(@D)
	$(Q)clang -target bpf -O2 -g -mcpu=v3 -Wall $(WERROR) -DTARGET_$$(uname -m) -I. -isystem /usr/include/$$(gcc -print-multiarch) -c $< -o $@ || : >$@

$(patsubst %,build/%/bench/profile/trace.o,$(builds) fuzz): build/trace.bpf.o
$(patsubst %,build/%/tuner/picture/plot_assets.o,$(builds) fuzz): $(wildcard tuner/picture/plot_assets/*)
$(patsubst %,build/%/tuner/emit/snippet_texts.o,$(builds) fuzz): $(wildcard tuner/emit/formats/*)
$(foreach part,manual completion,$(patsubst %,build/%/tuner/commands/$(part).o,$(builds) fuzz)): $(wildcard tuner/commands/templates/*)

# Without shared libraries, as guests need them: the objects are those of release.
build/static/fstune: build/release/tuner/commands/main.o
build/static/fstune-atoms: build/release/tuner/impact/atoms_helper.o
build/static/fstune build/static/fstune-atoms: $(call archives_tuner,release)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(compile_release) $(CFLAGS) -static $(LDFLAGS) $(filter %.o,$^) $(filter %.a,$^) $(libs_tuner) -o $@

# Fuzz targets are a tree of their own, made by clang. A link of the objects of release tells which of ours a target needs: no others are compiled.
$(eval $(call rules-of-objects,fuzz))
build/fuzz/%: override CC = $(FUZZ_CC)
$(call programs,$(fuzz_sources),fuzz): build/fuzz/%: build/fuzz/%.o build/fuzz/%.needs
	$(call say,LINK,$@)
	$(Q)$(CC) $(compile_fuzz) $(CFLAGS) $(link_fuzz) $(LDFLAGS) $(filter %.o,$^) $(libs_tuner) -o $@
build/fuzz/%.needs: build/release/%.o $(call archives_tuner,release)
	@mkdir -p $(@D)
	$(Q)$(LD) -r -M -o /dev/null $^ | sed -n 's|^build/release/\([^(]*\)\.a(\([^)]*\.o\)).*|build/fuzz/$*: build/fuzz/\1/\2|p' >$@
ifneq ($(filter fuzz build/fuzz/%,$(MAKECMDGOALS)),)
include $(addsuffix .needs,$(call programs,$(fuzz_sources),fuzz))
endif

-include $(wildcard $(foreach b,$(builds) fuzz,build/$(b)/tests/*.d build/$(b)/*/*/*.d build/$(b)/shared/*/*/*.d build/$(b)/pic/*/*/*.d build/$(b)/tests/*/*/*.d))

# The file systems of tests/faults, which fails on request, and of tests/disk, which records. Where libfuse3 is missing nothing is built and nothing is wrong.
build/release/faultfs: tests/faults/faultfs.c tests/faults/fault.h
build/release/recorder: tests/disk/recorder.c
build/release/faultfs build/release/recorder: Makefile | deps-faults
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)if pkg-config --exists fuse3; then \
	    $(CC) -std=c17 $(cpp_flags) $(warnings) $(WERROR) $(compile_release) $$(pkg-config --cflags fuse3) $(filter %.c,$^) -o $@ $$(pkg-config --libs fuse3) -pthread; \
	else rm -f $@; fi

# A fault to load into nbdkit.
build/release/no_flush.so: tests/disk/no_flush.c Makefile
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c17 $(cpp_flags) $(warnings) $(WERROR) -fPIC -shared $< -o $@

# Peers look for their other programs beside their trial server.
build/release/tests/compare/relay: tests/compare/peers/relay
	@mkdir -p $(@D)
	$(Q)cp $< $@

# The peers that are written in C++ (tests/compare/peers); the others are scripts.
build/release/tests/compare/peers/%: tests/compare/peers/%.cpp Makefile | deps-compare
	$(call say,CXX,$@)
	@mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -O2 -Wall -Wextra $(WERROR) $< -o $@ $$(pkg-config --libs dlib-1)

# ---- everyday targets ------------------------------------------------------------------------------------------

.PHONY: all check check-statistics check-io check-faults check-kills check-guest check-network check-m32 check-page check-plots check-slow check-asan check-tsan check-valgrind fuzz bench compare-live quickstart

all: build/$(BUILD)/fstune ## build the program: build/$(BUILD)/fstune

.PHONY: guest-atoms
guest-atoms: build/static/fstune-atoms ## build the atomic tests as one static program, for guests: build/static/fstune-atoms

# Beside it, where fstune profile and fstune-agent look first. A static program loads no libraries.
ifneq ($(BUILD),static)
all: $(loaded:%=build/$(BUILD)/%) $(if $(filter-out m32,$(BUILD)),build/$(BUILD)/fstune-agent)
endif

.PHONY: disk-plugin
disk-plugin: build/$(BUILD)/nbdkit-fstune-plugin.so ## build nbdkit's plugin for disks that tune themselves: build/release/nbdkit-fstune-plugin.so

# The server is a private one, started as user postgres; without it the check says that it is skipped.
.PHONY: check-fleet deps-fleet
check-fleet: build/$(BUILD)/fstune | deps-fleet ## a fleet's history on a real PostgreSQL: who may do what, 100 writers, kill -9
	$(Q)PYTHONDONTWRITEBYTECODE=1 tests/fleet/run $< '$(T)'
	$(Q)$(if $(T),,PYTHONDONTWRITEBYTECODE=1 tests/study/fleet_prior --fstune $< --only ram,zram,cached --seeds 1 --halves 2 --budget 10 >build/fleet-smoke.md \
		&& PYTHONDONTWRITEBYTECODE=1 tests/study/fleet_growth --fstune $< --hosts 6,12 --nights 2,4 --repeats 1 >build/growth-smoke.md)
deps-fleet: deps
	$(call look-for-packages,$(needed_fleet),install,0)

.PHONY: mpi check-mpi
mpi: build/$(BUILD)/fstune-mpi ## build the program for several clients: build/release/fstune-mpi

.PHONY: install-mpi uninstall-mpi
install-mpi: build/release/fstune-mpi ## install fstune-mpi and its manual page under PREFIX, below DESTDIR
	$(Q)install -D -m 755 $< '$(DESTDIR)$(PREFIX)/bin/fstune-mpi'
	$(Q)install -D -m 644 docs/fstune-mpi.1 '$(DESTDIR)$(PREFIX)/share/man/man1/fstune-mpi.1'
uninstall-mpi: ## remove what install-mpi put there
	$(Q)rm -f '$(DESTDIR)$(PREFIX)/bin/fstune-mpi' '$(DESTDIR)$(PREFIX)/share/man/man1/fstune-mpi.1'

# Half a minute, in a directory of its own in DIR.
# Words for it, such as --only rates,killed or --kills 100.
MPI_CHECK ?=
check-mpi: | deps-check-mpi ## several clients on this machine: sums, windows, kills, signals
	$(Q)if command -v $(MPICC) >/dev/null && command -v mpirun >/dev/null && command -v python3 >/dev/null; then \
	    $(MAKE) --no-print-directory mpi && PYTHONDONTWRITEBYTECODE=1 FSTUNE_MPI=build/$(BUILD)/fstune-mpi tests/mpi/check $(MPI_CHECK) '$(DIR)'; \
	else echo 'skip several clients: mpicc, mpirun or python3 is not installed'; echo '0 passed, 0 failed, 1 skipped'; fi

.PHONY: check-disk install-disk uninstall-disk
# Half a minute, in a directory of its own in DIR.
check-disk: build/$(BUILD)/nbdkit-fstune-plugin.so $(addprefix build/release/,faultfs recorder no_flush.so) | deps-check-disk ## serve images to clients of NBD: switches, kills, faults below, power cuts
	$(Q)PYTHONDONTWRITEBYTECODE=1 tests/disk/check --plugin $< '$(DIR)' || { [ $$? -eq 77 ] && echo '0 passed, 0 failed, 1 skipped'; }

# Where nbdkit looks for `nbdkit fstune`.
NBDKIT_PLUGIN_DIR ?= $(shell pkg-config --variable=plugindir nbdkit 2>/dev/null)
install-disk: build/release/nbdkit-fstune-plugin.so ## install the plugin where nbdkit looks for it, its units and manual page, below DESTDIR
	$(Q)install -D -m 644 docs/nbdkit-fstune-plugin.1 '$(DESTDIR)$(PREFIX)/share/man/man1/nbdkit-fstune-plugin.1'
	$(Q)for unit in fstune-disk@.service fstune-disk@.socket; do install -D -m 644 configs/systemd/$$unit "$(DESTDIR)$(UNIT_DIR)/$$unit"; done
	$(Q)dir='$(NBDKIT_PLUGIN_DIR)'; install -D -m 644 $< '$(DESTDIR)'"$${dir:?nbdkit-plugin-dev is not installed}/nbdkit-fstune-plugin.so"
uninstall-disk: ## remove what install-disk put there
	$(Q)rm -f '$(DESTDIR)$(UNIT_DIR)/fstune-disk@.service' '$(DESTDIR)$(UNIT_DIR)/fstune-disk@.socket' \
	    '$(DESTDIR)$(PREFIX)/share/man/man1/nbdkit-fstune-plugin.1'
	$(Q)dir='$(NBDKIT_PLUGIN_DIR)'; rm -f '$(DESTDIR)'"$${dir:?nbdkit-plugin-dev is not installed}/nbdkit-fstune-plugin.so"

# $(1): build, $(2): environment, $(3): what takes long and so begins first. Runs the programs among the prerequisites.
run_tests = $(Q)FSTUNE=build/$(1)/fstune $(2) tests/run $(3) $(filter-out build/$(1)/tests/study/%,$(filter build/$(1)/tests/%,$^))

# What commands print is compared of release builds on x86-64 alone: see tests/golden/README.md.
golden := $(if $(filter release-x86_64,$(BUILD)-$(shell uname -m)),$(if $(T),$(if $(findstring $(T),tests/golden/run),tests/golden/run),tests/golden/run))

check: build/$(BUILD)/fstune $(call programs,$(fast_tests) $(smoke_studies),$(BUILD)) | deps ## build and run the fast tests
	$(call run_tests,$(BUILD),,$(golden))
	$(Q)set -e; for study in $(filter build/$(BUILD)/tests/study/%,$^); do echo "smoke of $$study"; $$study >$$study.log || { cat $$study.log; exit 1; }; done
	$(Q)$(if $(T),,if command -v python3 >/dev/null; then PYTHONDONTWRITEBYTECODE=1 tests/study/test_flat_oracle.py --quiet; else echo "skipped study/test_flat_oracle: no python3"; fi)

.PHONY: golden
golden: build/release/fstune ## show what commands print otherwise than tests/golden says, and write it there
	$(Q)FSTUNE=$< tests/golden/run --write | grep -v '^ok '

# One at a time: they share the disk.
check-io: build/$(BUILD)/fstune build/$(BUILD)/fstune-agent $(loaded:%=build/$(BUILD)/%) $(call programs,$(fs_tests),$(BUILD)) build/release/faultfs | deps ## run the tests that need a real file system
	$(call run_tests,$(BUILD),TEST_JOBS=1 TEST_TIMEOUT=300 FAULTFS=build/release/faultfs)
	$(Q)$(if $(T),,PYTHONDONTWRITEBYTECODE=1 tests/study/cawl_validation --smoke --fstune build/$(BUILD)/fstune . >build/cawl-smoke.md)
	$(Q)$(if $(T),,PYTHONDONTWRITEBYTECODE=1 tests/profile/links --fstune build/$(BUILD)/fstune build >build/links.log || { cat build/links.log; exit 1; })
	$(Q)$(if $(T),,PYTHONDONTWRITEBYTECODE=1 tests/profile/hardships --kills 10 --fstune build/$(BUILD)/fstune build >build/hardships.log || { cat build/hardships.log; exit 1; })

# Most of an hour: every kind of fault at every API, 100 kills of searches, 200 of nights, hostile limits.
FAULTS_DIR ?= $(or $(TMPDIR),/tmp)
check-faults: build/$(BUILD)/fstune build/release/faultfs | deps ## every fault, kill and limit that fstune must survive, in FAULTS_DIR
	$(Q)export PYTHONDONTWRITEBYTECODE=1 FSTUNE=build/$(BUILD)/fstune; \
	    tests/faults/run && tests/faults/limits && tests/faults/kills --shared '$(FAULTS_DIR)' 100 && tests/faults/retune_kills '$(FAULTS_DIR)' 200

# A quarter of an hour for 200. Needs root.
KILLS ?= 200
check-kills: build/$(BUILD)/fstune build/release/faultfs | deps ## KILLS kills on every kind of place (T: part of its name), made in FAULTS_DIR: nothing left, nothing outside changed
	$(Q)PYTHONDONTWRITEBYTECODE=1 FSTUNE=build/$(BUILD)/fstune tests/faults/place_kills $(if $(T),--only '$(T)') '$(FAULTS_DIR)' '$(KILLS)'

# For the guest, which has no libraries: pieces of dmsetup, and of mount.nfs, rpc.mountd and rpcbind.
build/static/dm build/static/nfs3: build/static/%: tests/guest/%.c Makefile | $(before_build)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c17 $(cpp_flags) $(warnings) $(WERROR) $(compile_release) $< -static -o $@

# Three minutes on two processors: nine emulated guests, two at a time, then two with storage of other kinds. T: part of a guest's name.
check-guest: build/$(BUILD)/fstune build/static/fstune build/static/dm build/static/nfs3 | deps deps-guest ## boot Linux guests with the lines of `fstune emit qemu`, and with NFS, device mapper and md
	$(Q)PYTHONDONTWRITEBYTECODE=1 FSTUNE=build/$(BUILD)/fstune FSTUNE_STATIC=build/static/fstune GUEST_DIR=build/guest tests/guest/run '$(T)'
	$(Q)PYTHONDONTWRITEBYTECODE=1 FSTUNE_STATIC=build/static/fstune GUEST_DM=build/static/dm GUEST_NFS3=build/static/nfs3 GUEST_DIR=build/guest tests/guest/storage '$(T)'

# Twenty minutes on two processors: four lives of a guest, two at a time; a small Debian is made the first time. Needs root. T: part of a life's name.
.PHONY: check-guest-disk
check-guest-disk: build/$(BUILD)/fstune build/$(BUILD)/nbdkit-fstune-plugin.so | deps deps-guest-disk ## a Debian installs packages and compiles on the disk that tunes itself: switches, power cuts
	$(Q)PYTHONDONTWRITEBYTECODE=1 FSTUNE=build/$(BUILD)/fstune DISK_PLUGIN=build/$(BUILD)/nbdkit-fstune-plugin.so GUEST_DIR=build/guest DEBIAN_TAR=build/chroot.tar tests/guest/disk '$(T)'

# One to three minutes for each of nineteen guests, one after the other, and some for fstune-mpi between three; most of it is emulation. T: part of a place's name.
check-network: build/static/fstune build/static/dm build/static/nfs3 | deps deps-network ## what fstune says of NFS, SMB and devices made of others, in guests: a table
	$(Q)PYTHONDONTWRITEBYTECODE=1 FSTUNE_STATIC=build/static/fstune GUEST_DM=build/static/dm GUEST_NFS3=build/static/nfs3 GUEST_DIR=build/guest tests/guest/places '$(T)'
	$(Q)if command -v $(MPICC) >/dev/null; then $(MAKE) --no-print-directory mpi; fi
	$(Q)PYTHONDONTWRITEBYTECODE=1 FSTUNE_MPI=build/$(BUILD)/fstune-mpi GUEST_NFS3=build/static/nfs3 GUEST_DIR=build/guest tests/guest/clients '$(T)'

# Two minutes, most of them real runs: documents of each kind, also interrupted and refused ones. Needs python3-jsonschema.
.PHONY: check-schemas
check-schemas: build/$(BUILD)/fstune build/$(BUILD)/libfstune-profile.so | deps deps-schemas ## validate every JSON document that fstune prints, and docs/schemas with its page
	$(Q)if command -v python3 >/dev/null; then PYTHONDONTWRITEBYTECODE=1 FSTUNE=$< tests/schemas/check; \
	else echo 'skip schemas: python3 is not installed'; echo '0 passed, 0 failed, 1 skipped'; fi

# Some four minutes, in a directory of its own in DIR.
.PHONY: check-profile
check-profile: build/$(BUILD)/fstune build/$(BUILD)/fstune-agent $(loaded:%=build/$(BUILD)/%) | deps deps-profile ## profiles of fio, dd and fstune against what they were asked for, fstune-agent over bad links, and programs that make it hard for the wrappers
	$(Q)PYTHONDONTWRITEBYTECODE=1 tests/profile/links --fstune $< '$(DIR)'
	$(Q)PYTHONDONTWRITEBYTECODE=1 tests/profile/hardships --kills 300 --fstune $< '$(DIR)'
	$(Q)PYTHONDONTWRITEBYTECODE=1 tests/profile/truth --imports --fstune $< '$(DIR)'

.PHONY: check-snippets
check-snippets: build/$(BUILD)/fstune | deps-snippets ## give every snippet of `fstune emit` to its consumer, or to a grammar
	$(Q)FSTUNE=build/$(BUILD)/fstune tests/snippets/run $(T)

# A minute. What is shown is looked at in headless Chromium; in a directory of its own under TMPDIR.
check-page: build/$(BUILD)/fstune | deps deps-page ## pages of `fstune report --html` in a browser: mouse, keys, hostile texts, no network
	$(Q)if command -v python3 >/dev/null; then PYTHONDONTWRITEBYTECODE=1 FSTUNE=$< tests/page/check; \
	else echo 'skip pages in a browser: python3 is not installed'; echo '0 passed, 0 failed, 1 skipped'; fi

# Without them the check of pictures says that it is skipped.
deps-check-plots: deps
	$(call look-for-packages,$(needed_check_plots),install,0)

# A minute. The pictures stay in build/plots, to be looked at.
check-plots: build/$(BUILD)/fstune | deps-check-plots ## draw every kind of picture with gnuplot, and look at the result
	$(Q)rm -rf build/plots && mkdir -p build/plots
	$(Q)PYTHONDONTWRITEBYTECODE=1 FSTUNE=build/$(BUILD)/fstune SCRATCH=$(CURDIR)/build/plots tests/plots/check

check-slow: build/$(BUILD)/fstune $(call programs,$(slow_tests),$(BUILD)) | deps ## run the tests that take minutes
	$(call run_tests,$(BUILD),TEST_TIMEOUT=1800)

check-asan: build/asan/fstune $(call programs,$(fast_tests),asan) | deps ## the fast tests under address and undefined-behaviour sanitizers
	$(call run_tests,asan,UBSAN_OPTIONS=print_stacktrace=1 TEST_TIMEOUT=480)

# ThreadSanitizer's shadow memory collides with the address layout of newer kernels unless that is fixed.
check-tsan: build/tsan/fstune $(call programs,$(fast_tests),tsan) | deps ## the fast tests under the thread sanitizer
	$(call run_tests,tsan,TEST_WRAPPER='setarch -R' TEST_TIMEOUT=600)

# What is missing is fetched before the rules are read: without it nothing is built, and nothing is wrong.
ifneq ($(filter check-m32,$(MAKECMDGOALS))$(filter m32,$(BUILD)),)
m32_lacks := $(shell CC='$(CC)' tests/m32/sysroot build/m32/sysroot)
endif

# It puts a function of its own in the place of fstat64, which has yet another name where times have 64 bits.
m32_cannot := tests/bench/target/test_target_attacks.c

ifeq ($(m32_lacks),)
check-m32: build/m32/fstune $(call programs,$(filter-out $(m32_cannot),$(fast_tests)),m32) | deps ## the fast tests as 32-bit programs on x86-64
	$(call run_tests,m32)
else
check-m32:
	@printf '%s\n' 'skip programs of 32 bits: $(subst ','\'',$(m32_lacks))' '0 passed, 0 failed, 1 skipped'
endif

check-valgrind: build/debug/fstune $(call programs,$(fast_tests),debug) | deps-valgrind ## the fast tests under valgrind
	$(call run_tests,debug,TEST_WRAPPER='valgrind -q --error-exitcode=9 --leak-check=full --suppressions=tests/valgrind.supp' TEST_TIMEOUT=1800)

# FUZZ_SECONDS each (default 30), as many at a time as there are processors.
fuzz: $(call programs,$(fuzz_targets),fuzz) | deps-fuzz ## run the fuzz targets of the parsers for FUZZ_SECONDS=30 each
	$(Q)tests/fuzz/run $(filter build/fuzz/tests/%,$^)

bench: $(call programs,$(perf_sources),$(BUILD)) | deps ## run fstune's own performance programs (tests/perf)
	$(Q)set -e; for program in $^; do echo "== $$program"; $$program; done; [ -n "$^" ] || echo "tests/perf holds no programs yet"

check-statistics: $(call programs,$(statistics_sources),release) | deps ## study how often the statistics hold (minutes); writes docs/statistics.md
	$(Q)status=0; { printf '%s\n\n' '# How often the statistics of fstune hold' \
	    'Made by `make check-statistics`, but for the last section; do not edit the others. Seeds are fixed, so the same build gives the same figures.'; \
	for program in $^; do $$program || status=1; echo; done; \
	sed -n '/^## The rate of a run$$/,$$p' docs/statistics.md; } >build/statistics.md; \
	cp build/statistics.md docs/statistics.md; cat docs/statistics.md; exit $$status

.PHONY: compare-programs
compare-programs: build/release/tests/compare/trial_server build/release/tests/compare/relay build/release/tests/compare/peers/dlib build/release/libfstune.so.0 ## build what the comparison with other optimisers needs
# Half an hour on a quiet machine. LIVE: more options, as LIVE="--patterns read,write --repeats 3" or LIVE=--smoke.
compare-live: build/release/fstune | deps-live ## fstune, Optuna driving fio and a fio grid side by side on the file system of DIR; writes build/live.json
	$(Q)tests/compare/live --fstune $< --json build/live.json $(LIVE) '$(DIR)'

# The better part of an hour on a quiet machine. PROGRAMS: more options, as PROGRAMS="--minutes 8 --budgets 60" or PROGRAMS=--report-only.
.PHONY: compare-programs-live
compare-programs-live: build/release/fstune compare-programs | deps-compare ## libfstune and other optimisers on live programs (SQLite in DIR, zstd, flags of gcc); writes docs/compare-programs.md
	$(Q)tests/compare/programs --markdown docs/compare-programs.md $(PROGRAMS) '$(DIR)'

quickstart: build/$(BUILD)/fstune ## install what is missing, build, and tune random writes in DIR for 30 s
	@status=0; $< recommend --pattern randwrite --budget 30s --path '$(DIR)' || status=$$?; \
	case $$status in \
	0) ;; \
	3) echo "(exit code 3: the recommendation stands, but 30 s on this disk do not settle it statistically; that is common)" ;; \
	*) exit $$status ;; \
	esac

.PHONY: record-surface
# SURFACE: where the table goes.
SURFACE ?= build/recorded.csv
record-surface: build/$(BUILD)/fstune ## record a surface (SURFACE=) from the file system of DIR (an hour, a TB of I/O)
	$(Q)tests/study/record_surface $< '$(DIR)' '$(SURFACE)'

# Half an hour on a quiet machine, some hundred GB of I/O. Needs root for small limits of dirty memory and for xfs on a loop device; says what it skips.
# CAWL: more options, as CAWL="--rounds 3 --places here".
.PHONY: cawl-validation
cawl-validation: build/release/fstune | deps deps-plots ## compare predicted with measured writes, all scenarios of the CAWL paper, below DIR; writes docs/cawl-validation.md
	$(Q)PYTHONDONTWRITEBYTECODE=1 tests/study/cawl_validation --fstune $< --markdown docs/cawl-validation.md --pictures docs/pictures --json build/cawl-validation.json \
	    $(CAWL) '$(DIR)'

.PHONY: compare compare-smoke deps-plots

# Without gnuplot the comparison has no pictures, and says so.
deps-plots: deps
	$(call look-for-packages,$(needed_plots),install,0)

# Options of tests/compare/compare go into COMPARE; results are kept in build/compare, so that an interrupted run goes on.
compare: build/release/fstune compare-programs | deps-compare deps-plots ## compare the search with other optimisers (hours); writes docs/compare.md
	$(Q)PYTHONDONTWRITEBYTECODE=1 tests/compare/compare --fstune $< --docs docs $(COMPARE)

compare-smoke: build/release/fstune compare-programs | deps-compare ## a minute of that: 2 cells, 5 seeds, and some live programs
	$(Q)PYTHONDONTWRITEBYTECODE=1 tests/compare/smoke --fstune $< $(COMPARE)
	$(Q)tests/compare/programs --smoke --json build/compare-smoke/programs.json build

# ---- tools -----------------------------------------------------------------------------------------------------

.PHONY: lint lint-format lint-rules lint-cppcheck format coverage

# Formatting differs between versions of clang-format; the tree follows this one.
clang_format_version := 14

lint: lint-format lint-rules lint-cppcheck lint-tidy ## formatting, include directions, house rules, cppcheck, clang-tidy

lint-format: | deps-dev
	$(call say,FORMAT)
	@clang-format --version | grep -q 'version $(clang_format_version)\.' \
	    || echo "fstune: the tree is formatted with clang-format $(clang_format_version), this is another version" >&2
	$(Q)clang-format --dry-run -Werror $(own_code)

lint-rules:
	$(call say,RULES)
	$(Q)tests/lint/selftest
	$(Q)tests/lint/rules .

# Why each suppression: tests/lint/cppcheck-suppressions.txt.
lint-cppcheck: | deps-dev
	$(call say,CPPCHECK)
	$(Q)mkdir -p build/lint/cppcheck
	$(Q)cppcheck --quiet --error-exitcode=1 --enable=warning,style,performance,portability --inline-suppr --std=c11 \
	    --cppcheck-build-dir=build/lint/cppcheck --suppressions-list=tests/lint/cppcheck-suppressions.txt \
	    -I. -D_GNU_SOURCE $(own_sources)

# One stamp per source: only what changed is looked at again.
tidy_stamps := $(own_sources:%.c=build/lint/%.tidy)

# Steps that the analyzer may take in one function. With clang's own 225000 a run takes twice as long, and finds no more here.
ANALYZER_STEPS ?= 75000

.PHONY: lint-tidy
lint-tidy: $(tidy_stamps)

build/lint/bench/base/err.tidy: tidy_flags := -DANALYZER_DEFINES_ERR
$(mpi_sources:%.c=build/lint/%.tidy): tidy_flags = $(patsubst -I%,-isystem%,$(filter -I%,$(shell $(MPICC) -show)))

build/lint/%.tidy: %.c .clang-tidy tests/.clang-tidy tests/lint/analyzer.h $(filter %.h,$(own_code)) | deps-dev
	$(call say,TIDY,$<)
	$(make_dir)
	$(Q)clang-tidy --quiet $< -- -std=c17 $(cpp_flags) $(tidy_flags) -include tests/lint/analyzer.h \
	    -Xclang -analyzer-config -Xclang max-nodes=$(ANALYZER_STEPS) >$@.log 2>&1 || { cat $@.log; exit 1; }
	@touch $@

format: ## format all C sources in place
	$(Q)clang-format -i $(own_code)

coverage: build/cov/fstune $(call programs,$(fast_tests),cov) | deps ## line coverage of the fast tests
	@find build/cov -name '*.gcda' -delete
	$(call run_tests,cov)
	$(Q)if command -v gcovr >/dev/null 2>&1; then gcovr -r . --object-directory build/cov $(floors:%=--filter %/); \
	    else tests/coverage build/cov $(floors); fi

# ---- packaging -------------------------------------------------------------------------------------------------

.PHONY: install uninstall man completion deb check-packaging check-deb deps-deb deps-check-deb deps-packaging dist clean help

# Where things go that other programs look for; packagers set them. systemd and cron look in no other PREFIX than these two.
UNIT_DIR   ?= $(PREFIX)/lib/systemd/system
TMPFILES_DIR ?= $(PREFIX)/lib/tmpfiles.d
SYSCONFDIR ?= $(if $(filter /usr /usr/local,$(PREFIX)),/etc,$(PREFIX)/etc)
BASH_DIR   ?= $(PREFIX)/share/bash-completion/completions
ZSH_DIR    ?= $(PREFIX)/share/zsh/site-functions
FISH_DIR   ?= $(PREFIX)/share/fish/vendor_completions.d
doc_dir    := $(PREFIX)/share/doc/fstune
share_dir  := $(PREFIX)/share/fstune

# What the program prints of itself.
generated := build/fstune.1 build/completion/fstune build/completion/_fstune build/completion/fstune.fish
build/fstune.1: self := --manual
build/completion/fstune: self := --completion bash
build/completion/_fstune: self := --completion zsh
build/completion/fstune.fish: self := --completion fish
$(generated): build/release/fstune
	$(call say,MAKE,$@)
	@mkdir -p $(@D)
	$(Q)$< $(self) >$@

man: build/fstune.1 ## the manual page as build/fstune.1
completion: $(filter build/completion/%,$(generated)) ## completion for bash, zsh and fish in build/completion

# A program that includes it needs no library, so it comes with fstune and with libfstune.
profile_header := bench/collector/profile.h:$(PREFIX)/include/fstune/profile.h:644 docs/fstune-profile.3:$(PREFIX)/share/man/man3/fstune-profile.3:644

# SOURCE:PLACE:MODE. Install and uninstall read this one list.
units    := $(filter-out %/fstune-disk@.service,$(wildcard configs/systemd/*.service configs/systemd/*.timer))
examples := $(wildcard configs/*.conf configs/*.sql configs/*.example configs/presets/* configs/surfaces/* configs/ansible/* configs/prometheus/* configs/grafana/*)
installed = build/release/fstune:$(PREFIX)/bin/fstune:755 \
            build/release/fstune-agent:$(PREFIX)/bin/fstune-agent:755 docs/fstune-agent.1:$(PREFIX)/share/man/man1/fstune-agent.1:644 \
            build/release/libfstune-profile.so:$(PREFIX)/lib/fstune/libfstune-profile.so:644 \
            build/release/libfstune-memory.so:$(PREFIX)/lib/fstune/libfstune-memory.so:644 \
            $(profile_header) \
            build/fstune.1:$(PREFIX)/share/man/man1/fstune.1:644 \
            build/completion/fstune:$(BASH_DIR)/fstune:644 build/completion/_fstune:$(ZSH_DIR)/_fstune:644 \
            build/completion/fstune.fish:$(FISH_DIR)/fstune.fish:644 \
            $(foreach f,$(units),$(f):$(UNIT_DIR)/$(notdir $(f)):644) \
            configs/cron.d/fstune:$(SYSCONFDIR)/cron.d/fstune:644 \
            configs/tmpfiles.d/fstune.conf:$(TMPFILES_DIR)/fstune.conf:644 \
            $(foreach f,$(wildcard README.md LICENSE docs/*.md),$(f):$(doc_dir)/$(notdir $(f)):644) \
            $(foreach f,$(wildcard docs/schemas/*.json),$(f):$(doc_dir)/schemas/$(notdir $(f)):644) \
            $(foreach f,$(examples),$(f):$(share_dir)/$(f:configs/%=%):$(if $(filter %.example,$(f)),755,644)) \
            $(foreach f,target fleet,configs/systemd/retune-$(f).conf:$(share_dir)/retune-$(f).conf:644)

# Units and the cron job name the program's place.
install: build/release/fstune build/release/fstune-agent $(loaded:%=build/release/%) $(generated) ## install under PREFIX (default /usr/local), below DESTDIR
	$(Q)set -e; for entry in $(installed); do \
	    source=$${entry%%:*}; place=$${entry#*:}; mode=$${place##*:}; place='$(DESTDIR)'$${place%:*}; \
	    install -D -m $$mode "$$source" "$$place"; \
	    case $$source in \
	    configs/systemd/*|configs/cron.d/*) sed 's|/usr/bin/fstune|$(PREFIX)/bin/fstune|' "$$source" >"$$place" ;; \
	    esac; \
	done

# libfstune, its header, manual page and what pkg-config says of it, for programs that tune themselves (docs/library.md).
LIB_DIR ?= $(PREFIX)/lib
library := build/release/libfstune.so.0:$(LIB_DIR)/libfstune.so.0:644 build/release/libfstune.a:$(LIB_DIR)/libfstune.a:644 \
           models/library/fstune.h:$(PREFIX)/include/fstune/fstune.h:644 build/fstune.pc:$(LIB_DIR)/pkgconfig/fstune.pc:644 \
           docs/fstune.3:$(PREFIX)/share/man/man3/fstune.3:644 $(profile_header)
.PHONY: install-library uninstall-library build/fstune.pc
build/fstune.pc:
	@mkdir -p $(@D)
	$(Q)printf '%s\n' 'Name: fstune' 'Description: looks for the best of many settings by noisy measurements' 'Requires.private: gsl' \
	    "Version: $$(sed -n '1s/.*(\(.*\)).*/\1/p' configs/debian/changelog)" 'Cflags: -I$(PREFIX)/include' 'Libs: -L$(LIB_DIR) -lfstune' >$@
install-library: build/release/libfstune.so.0 build/release/libfstune.a build/fstune.pc ## install libfstune and its header under PREFIX, below DESTDIR
	$(Q)set -e; for entry in $(library); do \
	    place=$${entry#*:}; install -D -m $${place##*:} "$${entry%%:*}" '$(DESTDIR)'$${place%:*}; \
	done
	$(Q)ln -sf libfstune.so.0 '$(DESTDIR)$(LIB_DIR)/libfstune.so'
uninstall-library: ## remove what install-library put there
	$(Q)for entry in $(library); do place=$${entry#*:}; rm -f '$(DESTDIR)'$${place%:*}; done
	$(Q)rm -f '$(DESTDIR)$(LIB_DIR)/libfstune.so'
	$(Q)rmdir '$(DESTDIR)$(PREFIX)/include/fstune' 2>/dev/null || true

# Nothing else: what somebody added stays, and so do the directories that others use too.
uninstall: ## remove what install put there
	$(Q)set -e; for entry in $(installed); do \
	    place=$${entry#*:}; rm -f '$(DESTDIR)'"$${place%:*}"; \
	done
	$(Q)for dir in '$(doc_dir)' '$(share_dir)' '$(PREFIX)/lib/fstune'; do \
	    [ ! -d '$(DESTDIR)'"$$dir" ] || find '$(DESTDIR)'"$$dir" -depth -type d -empty -delete; \
	done
	$(Q)rmdir '$(DESTDIR)$(PREFIX)/include/fstune' 2>/dev/null || true

needed_deb := dpkg-dev:dpkg-buildpackage debhelper:dh $(needed_papi) $(needed_disk)
needed_check_deb := debootstrap:debootstrap lintian:lintian
needed_packaging := python3:python3 groff:groff man-db:man zsh:zsh fish:fish \
                    mandoc:mandoc python3-yaml:$(python_packages)/yaml systemd:systemd-analyze prometheus:promtool

deps-deb: deps
	$(call look-for-packages,$(needed_deb),install)

# What is missing is a check that is skipped.
deps-check-deb: deps
	$(call look-for-packages,$(needed_check_deb),install,0)

deps-packaging: deps
	$(call look-for-packages,$(needed_packaging),install,0)

deb_name := fstune-$(VERSION)
deb: | deps-deb ## a Debian package and its source package, in build/deb
	$(Q)rm -rf build/deb && mkdir -p build/deb/$(deb_name)
	$(Q)tar -c --exclude=./build --exclude=./.git --exclude=__pycache__ . | tar -x -C build/deb/$(deb_name)
	$(Q)cp -r configs/debian build/deb/$(deb_name)/debian
	$(Q)cd build/deb/$(deb_name) && MAKEFLAGS= DEB_BUILD_OPTIONS="$${DEB_BUILD_OPTIONS-nocheck}" dpkg-buildpackage -us -uc >../build.log 2>&1 \
	    || { tail -n 30 ../build.log >&2; exit 1; }
	@ls build/deb/*.deb build/deb/*.dsc

check-packaging: build/release/fstune build/release/fstune-agent $(loaded:%=build/release/%) build/release/libfstune.so.0 build/release/libfstune.a $(generated) | deps-packaging ## check manual page, completion, units, cron job, install and uninstall
	$(Q)FSTUNE=build/release/fstune tests/packaging/run

# Minutes, and a network: a small Debian is made, kept in build/chroot.tar for the next time.
check-deb: deb | deps-check-deb ## install, use and purge the package in a fresh Debian
	$(Q)tests/packaging/deb_chroot build/deb build/chroot.tar

dist: ## the committed sources as build/fstune-VERSION.tar.gz
	$(Q)mkdir -p build
	$(Q)git archive --format=tar.gz --prefix=fstune-$(VERSION)/ -o build/fstune-$(VERSION).tar.gz HEAD
	@echo build/fstune-$(VERSION).tar.gz

clean: ## remove build/
	$(Q)rm -rf build

help: ## this list
	@echo 'make [TARGET] [BUILD=release|debug|asan|tsan|cov|m32] [V=1] [T=part of a test path] [PREFIX=/usr/local] [DESTDIR=]'
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/\1:\2/p' Makefile | while IFS=: read -r name text; do printf '  %-15s %s\n' "$$name" "$$text"; done

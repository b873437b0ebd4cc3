/* The table of warnings: what each means, what to do, and when a point that has it is not recommended. */
#include "tuner/base/warnings_table.h"

#include <string.h>

const struct warnings_row warnings_table[WARNING_N] = {
    [WARNING_WARMUP_NOT_STABLE] = {"warmup_not_stable", 0, false,
                                   "batch latencies were still scattering when the warm-up's time was over"},
    [WARNING_DEPTH_NOT_ACHIEVED] =
        {"depth_not_achieved", WARNINGS_DIRECT, false,
         "fewer requests were in flight than asked for: the API or the file system does not "
         "run them side by side, or threads took turns for lack of processors"},
    [WARNING_LATENCY_SELF_CHECK] =
        {"latency_self_check", 0, false,
         "mean latency x IOPS differs from the achieved depth by more than 10 %: requests "
         "wait inside the submitting call"},
    [WARNING_NOT_COLD] =
        {"not_cold", WARNINGS_BUFFERED | WARNINGS_IF_READS | WARNINGS_IF_COLD, false,
         "pages of the file stayed in the page cache although it was dropped: buffered reads measure "
         "memory; measure another file system, or with --cache warm on purpose"},
    [WARNING_CACHE_STATE_UNVERIFIED] =
        {"cache_state_unverified", 0, false,
         "the kernel does not tell whether the file was out of the page cache"},
    [WARNING_NOT_SETTLED] =
        {"not_settled", 0, false,
         "the device was still busy after the run: something else uses it, or it is very slow"},
    [WARNING_PVEC_CONTIGUOUS] = {"pvec_contiguous", 0, false,
                                 "the requests of one preadv/pwritev lie side by side and share its latency"},
    [WARNING_SERVED_FROM_CACHE] =
        {"served_from_cache", WARNINGS_ANY | WARNINGS_IF_READS | WARNINGS_IF_COLD, false,
         "most of what was read never came from the device: some cache served it although the "
         "runs were to be cold; use a file that no cache holds"},
    [WARNING_GENERATOR_CPU_BOUND] =
        {"generator_cpu_bound", 0, false,
         "a thread that issues the requests was busy all the time: the processor is the "
         "limit, not the device; try more --threads"},
    [WARNING_RATE_CAPPED] = {"rate_capped", 0, false,
                             "the rate stands at the limit that a cgroup sets for this device (io.max or "
                             "blkio.throttle): the limit was measured, not the device"},
    [WARNING_THROTTLED_DURING_RUN] =
        {"throttled_during_run", 0, true,
         "the CPU quota of the cgroup stopped this process during a run: raise the quota or "
         "measure outside it"},
    [WARNING_NEIGHBOUR_BUSY] =
        {"neighbour_busy", 0, true,
         "somebody else used the device: figures may be too low and scatter more; measure when it "
         "is quiet"},
    [WARNING_STEAL] =
        {"steal", 0, true,
         "the hypervisor gave more than 5 % of the processor time to others: figures may be too low and "
         "scatter more"},
    [WARNING_CLOCK_STEP] =
        {"clock_step", 0, false,
         "the wall clock was set, or the machine slept, during a run; durations come from a clock "
         "that cannot be set, but look at the machine"},
    [WARNING_RUN_CUT] =
        {"run_cut", 0, false,
         "so slow that its only run was ended early: a first look, not compared with anything"},
    [WARNING_BESIDE_OVER_LIMIT] = {"beside_over_limit", WARNINGS_ANY, false,
                                   "the p99 of a load beside is above --beside-limit; use a setting with "
                                   "less in flight, or raise the limit"},
    [WARNING_RATE_NOT_SERVED] =
        {"rate_not_served", WARNINGS_ANY, false,
         "more than 3 % of the requests that were offered (--rate) had not begun when a run "
         "ended: they wait ever longer; use another setting, or offer less"},
    [WARNING_WRITES_ABSORBED] =
        {"writes_absorbed", WARNINGS_ANY | WARNINGS_IF_SYNC_CHOSEN, false,
         "with sync none nothing waits until the data are durable: memory took them; pin --sync "
         "none if that is what you want to know"},
    [WARNING_MEMORY_FIRST_TOUCH] =
        {"memory_first_touch", 0, false,
         "this machine's host takes back memory that is free, and giving it again makes the page cache up to "
         "ten times slower; short runs use the same memory again and do not show it: `fstune calibrate` "
         "measures it"},
    [WARNING_NETWORK_SLOTS] =
        {"network_slots", 0, false,
         "more requests were asked for than this machine lets be at the NFS server at a time: the others "
         "waited here; use a lower depth, or raise the limit (network_slots)"},
    [WARNING_CLIENT_DISK_CACHE] =
        {"client_disk_cache", 0, false,
         "the mount keeps copies on a disk of this machine (fsc), which dropping the page cache does not "
         "empty: buffered reads may come from there; mount without fsc"},
    [WARNING_RATE_PINNED] =
        {"rate_pinned", 0, false,
         "replays lie pinned at one rate far below an earlier one of the same setting, as when burst "
         "credit is used up: the later rate is the sustained one"},
    [WARNING_RANDOM_FASTER_THAN_SEQUENTIAL] =
        {"random_faster_than_sequential", WARNINGS_BUFFERED | WARNINGS_IF_READS | WARNINGS_IF_COLD, false,
         "random access came out faster than sequential access with the same "
         "setting: some cache, or data that need no I/O, is likely to serve it"},
    [WARNING_EXISTING_HAS_HOLES] =
        {"existing_has_holes", WARNINGS_ANY | WARNINGS_IF_READS, false,
         "the file has holes, which are read as zeros without any I/O; use a file whose every "
         "block was written"},
    [WARNING_EXISTING_HAS_UNWRITTEN] =
        {"existing_has_unwritten", WARNINGS_ANY | WARNINGS_IF_READS, false,
         "blocks of the file are allocated but were never written; they are read as zeros "
         "without any I/O; use a file whose every block was written"},
    [WARNING_EXISTING_COMPRESSED] =
        {"existing_compressed", WARNINGS_ANY | WARNINGS_IF_READS, false,
         "the file is stored compressed: less is read from the device than the figures say; "
         "they hold for this file's data alone"},
    [WARNING_COMPRESSIBLE_DATA] =
        {"compressible_data", WARNINGS_ANY | WARNINGS_IF_READS, false,
         "the data compress or repeat, and what stores them may make use of it: the figures "
         "hold for data of this kind alone"},
    [WARNING_MEMORY_BACKED_LOOP] =
        {"memory_backed_loop", WARNINGS_ANY | WARNINGS_IF_READS | WARNINGS_IF_COLD, false,
         "the device is a loop device without direct I/O: the page cache of its image serves "
         "reads; set it up with losetup --direct-io=on"},
    [WARNING_MEMORY_BACKED] = {"memory_backed", 0, false,
                               "the file lies in memory (tmpfs, ramfs, a RAM disk): no device was measured"},
    [WARNING_FILE_FITS_DEVICE_CACHE] =
        {"file_fits_device_cache", 0, false,
         "the disk is a virtual one, whose host may cache a file of this size: cold is "
         "only what this machine can make cold; a larger --file-size tells more"},
    [WARNING_HOST_DURABILITY] =
        {"host_durability", 0, false,
         "the disk is a virtual one: written data are durable when its host says so; a host that keeps them "
         "in "
         "memory all the same (such as QEMU with cache=unsafe) cannot be told from here: look there"},
    [WARNING_NEARLY_FULL] =
        {"nearly_full", 0, false,
         "the file system is more than 95 % full: allocation is slower and more scattered than "
         "usual; free some space"},
    [WARNING_FRAGMENTED] =
        {"fragmented", 0, false,
         "the file broke into many more pieces while it was measured: later runs met another file "
         "than earlier ones"},
    [WARNING_SERVER_CACHE] =
        {"server_cache", 0, false,
         "the data are on a server: cold and direct are past this machine's cache alone, and the server's "
         "cannot be emptied from here; a --file-size above the server's memory tells more"},
    [WARNING_SERVER_DURABILITY] =
        {"server_durability", 0, false,
         "written data are durable when the server says so; one that answers first and writes later (an NFS "
         "export with async) cannot be told from here: look there (exportfs -v)"},
    [WARNING_SOFT_MOUNT] =
        {"soft_mount", 0, false,
         "the mount is soft: what the server does not answer in time fails, and data already written may be "
         "lost; mount with hard where data matter"},
    [WARNING_DIRECT_NOT_PROVED] =
        {"direct_not_proved", 0, false,
         "direct I/O was left out: it is not proved to go past the page cache here"},
    [WARNING_DEVICE_NEVER_QUIET] =
        {"device_never_quiet", 0, false,
         "the device is busy with something else than fstune: figures may be too low and "
         "scatter more"},
    [WARNING_RUN_REPEATED] = {"run_repeated", 0, false, "runs were disturbed from outside and repeated"},
    [WARNING_MAX_WRITE] = {"max_write", 0, false,
                           "the write budget (--max-write) ended the measurement early"},
    [WARNING_NOT_CONFIRMED] =
        {"not_confirmed", 0, false,
         "fewer replays than wanted were made after the choice: the figures may flatter it"},
    [WARNING_NO_LOCK] = {"no_lock", 0, false, "the device could not be locked against a second fstune"},
};

enum warning warnings_find(const char *code)
{
    unsigned i = 0;
    while (i < WARNING_N && strcmp(warnings_table[i].code, code) != 0)
        i++;
    return (enum warning)i;
}

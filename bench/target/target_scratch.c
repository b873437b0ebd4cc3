/* bench/target/target_scratch: empty target files. */
#include "bench/target/target_scratch.h"

#include "bench/base/full_io.h"
#include "bench/base/units.h"
#include "bench/target/target_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

static struct target_plan plan_of_scratch(const char *directory, uint32_t n_files, uint64_t total_bytes)
{
    uint64_t mib = total_bytes / TARGET_MIB + (total_bytes % TARGET_MIB != 0);
    return (struct target_plan){.directory = directory,
                                .size_bytes = (mib > 0 ? mib : 1) * TARGET_MIB,
                                .size_is_default = true, /* errors then do not speak of --file-size */
                                .n_files = n_files,
                                .max_write_bytes = UINT64_MAX};
}

int target_scratch_check(const char *directory, uint64_t total_bytes, struct err *err)
{
    if (total_bytes > INT64_MAX - TARGET_MIB)
        return err_set(err, -EFBIG, "%s: no file system holds %" PRIu64 " bytes", directory, total_bytes);
    struct target_plan plan = plan_of_scratch(directory, 1, total_bytes);
    uint64_t fits_bytes;
    int code = target_estimate(&plan, &fits_bytes, err);
    if (code != 0 || fits_bytes >= plan.size_bytes)
        return code;
    char need[UNITS_TEXT_SIZE], have[UNITS_TEXT_SIZE];
    return err_set(
        err, -ENOSPC,
        "%s: the writes need %s, %s can be taken with 10 %% of the free space kept free and within "
        "the limit on file sizes (ulimit -f); write less or choose another --path",
        directory, units_format_bytes(total_bytes, need), units_format_bytes(fits_bytes, have));
}

int target_scratch_create(struct target *target, const char *directory, uint32_t n_files,
                          uint64_t total_bytes, struct err *err)
{
    int code = target_scratch_check(directory, total_bytes, err);
    if (code != 0)
        return code;
    struct target_plan plan = plan_of_scratch(directory, n_files, total_bytes);
    struct target made = {.owned = true, .writable = true};
    code = target_create_empty(&made, &plan, NULL, err);
    if (code == -EMFILE) /* there may be no --files to be lowered */
        err_set(err, code, "%s: %u files cannot be open at a time; raise the limit (ulimit -n)", made.name,
                n_files);
    if (code == 0)
        *target = made;
    else
        target_close(&made);
    return code;
}

/* A megabyte to be read and written by the proof. */
static int fill_a_little(struct target *target, struct err *err)
{
    unsigned char *block = calloc(1, TARGET_MIB);
    if (block == NULL)
        return err_set(err, -ENOMEM, "%s: no memory for probing direct I/O", target->name);
    int code = full_io_write(target->fd, block, TARGET_MIB, 0, NULL);
    if (code == 0)
        target->size_bytes = TARGET_MIB;
    else
        err_io(err, code, "%s: cannot be written to", target->name);
    free(block);
    return code;
}

int target_scratch_direct(struct target *target, uint32_t *ret_align_bytes, struct err *err)
{
    struct target first = target_one(target, 0);
    int code = fill_a_little(&first, err);
    if (code == 0)
        code = target_prove_direct(&first, err);
    target->proof_bytes += first.size_bytes + first.proof_bytes;
    if (ftruncate(first.fd, 0) != 0 && code == 0)
        code = err_sys(err, -errno, "%s: cannot be emptied again", first.name);
    if (code != 0)
        return code;
    if (first.direct_write != TARGET_DIRECT_PROVED && first.direct_write != TARGET_DIRECT_UNVERIFIED)
        return err_set(err, -EOPNOTSUPP, "%s: there is no direct I/O here: %s; choose another --path or mode",
                       first.name, first.direct_why);
    *ret_align_bytes = first.direct_offset_align_bytes;
    return 0;
}

/* Tests of tuner/session/warnings_target: every rule about file, device and machine fires on its fact. */
#include "tests/tuner/session/warnings_rig.h"

EACH_TEST(begin_clean, NULL);

static void holes(void)
{
    facts.target_facts.extents.hole_bytes = 1 << 25;
}

static void unwritten(void)
{
    facts.target_facts.extents.unwritten_bytes = 1 << 25;
}

static void encoded(void)
{
    facts.target_facts.extents.encoded_bytes = 1 << 25;
}

static void text_on_a_compressing_file_system(void)
{
    facts.target_facts.stack.compresses = true;
    facts.target_facts.compressibility.compressible_share = 0.5;
}

static void copies_on_a_deduplicating_one(void)
{
    facts.target_facts.stack.may_deduplicate = true;
    facts.target_facts.compressibility.duplicate_share = 0.5;
}

static void buffered_loop(void)
{
    facts.target_facts.stack.loop = true;
}

static void guest_disk(void)
{
    facts.target_facts.stack.virtual_disk = true;
}

static const struct fault faults[] = {
    {WARNING_NEIGHBOUR_BUSY, .number = NUMBER(target_facts.idle.device_written_bps), .value = 50e6},
    {WARNING_NEIGHBOUR_BUSY, .number = NUMBER(target_facts.idle.psi_io_some_share), .value = 0.9},
    {WARNING_STEAL, .number = NUMBER(target_facts.idle.steal_share), .value = 0.2},
    {WARNING_EXISTING_HAS_HOLES, .make = holes},
    {WARNING_EXISTING_HAS_UNWRITTEN, .make = unwritten},
    {WARNING_EXISTING_COMPRESSED, .make = encoded},
    {WARNING_COMPRESSIBLE_DATA, .make = text_on_a_compressing_file_system},
    {WARNING_COMPRESSIBLE_DATA, .make = copies_on_a_deduplicating_one},
    {WARNING_MEMORY_BACKED_LOOP, .make = buffered_loop},
    {WARNING_MEMORY_BACKED, .kind = BOOL, .number = NUMBER(target_facts.stack.in_memory), .value = true},
    {WARNING_FILE_FITS_DEVICE_CACHE, .make = guest_disk},
    {WARNING_NEARLY_FULL, .number = NUMBER(target_facts.stack.free_share), .value = 0.04},
    {WARNING_FRAGMENTED, .number = NUMBER(target_facts.growth_per_gib), .value = 500},
};

TEST(every_fault_is_found_and_nothing_else)
{
    check_faults(faults, COUNT(faults));
}

TEST(an_own_file_has_no_doubts_of_a_users)
{
    facts.target_facts.existing = false;
    holes();
    unwritten();
    encoded();
    text_on_a_compressing_file_system();
    assert_int_equal(found(), 0);
}

TEST(encryption_is_no_compression)
{
    encoded();
    facts.target_facts.stack.encrypted = true;
    assert_int_equal(found(), 0);
}

/* A block less than a hundredth, and the commit of a journal. */
TEST(trifles_raise_no_doubt)
{
    facts.target_facts.extents.hole_bytes = facts.target_facts.extents.unwritten_bytes = 1 << 20;
    facts.target_facts.extents.encoded_bytes = 1 << 20;
    facts.target_facts.idle.device_written_bps = 10e6;
    facts.target_facts.idle.psi_io_some_share = 0.2;
    facts.target_facts.growth_per_gib = 10;
    facts.target_facts.stack.free_share = 0.06;
    facts.target_facts.stack.compresses = true;
    facts.target_facts.compressibility.compressible_share = 0.05;
    assert_int_equal(found(), 0);
}

TEST(a_loop_device_with_direct_io_is_a_disk)
{
    buffered_loop();
    facts.target_facts.stack.loop_direct_io = true;
    assert_int_equal(found(), 0);
}

TEST(a_virtual_disk_matters_to_cold_reads)
{
    guest_disk();
    facts.asked.cold = false;
    assert_int_equal(found(), 0);
    facts.asked.cold = true;
    set_pattern("write");
    assert_int_equal(found(), 0);
}

/* Tests of tuner/session/session_clients. */
#include "tuner/session/session_clients.h"

#include "tests/test.h"

#include <errno.h>
#include <string.h>

#define MIB (1ULL << 20)

static struct settings settings;

static uint64_t distance_of(uint64_t region_bytes, uint64_t request_bytes, uint64_t write_bytes)
{
    settings = (struct settings){0};
    if (request_bytes != 0)
        settings.workload.levels[FACTOR_REQUEST_SIZE] =
            (struct levels){.n = 2, .value = {512, request_bytes}};
    if (write_bytes != 0)
        settings.workload.levels[FACTOR_WRITE_SIZE] = (struct levels){.n = 1, .value = {write_bytes}};
    return session_clients_distance_bytes(&settings, region_bytes);
}

TEST(regions_begin_at_multiples_of_the_largest_request)
{
    assert_int_equal(distance_of(128 * MIB, 0, 0), 128 * MIB);
    assert_int_equal(distance_of(129 * MIB, 0, 0), 132 * MIB);
    assert_int_equal(distance_of(128 * MIB, 64 << 10, 0), 128 * MIB);
    assert_int_equal(distance_of(128 * MIB, 3 * MIB, 0), 132 * MIB);
    assert_int_equal(distance_of(128 * MIB, 48 << 10, 5 * MIB), 180 * MIB);
    assert_int_equal(distance_of(129 * MIB, 4096, 16 * MIB), 144 * MIB);
}

TEST(one_process_shares_its_file_with_nobody)
{
    struct err err = {0};
    settings = (struct settings){.file.n = 1};
    assert_int_equal(session_clients_check(&settings, &err), 0);
    settings.file.shared = true;
    assert_int_equal(session_clients_check(&settings, &err), -EINVAL);
    assert_non_null(strstr(err.text, "mpirun -n CLIENTS"));
}

TEST(no_more_clients_work_than_there_are)
{
    struct session_clients two = {.n = 2};
    struct err err = {0};
    settings = (struct settings){.file.n = 1, .workload.clients = {.n = 2, .value = {1, 2}}};
    assert_int_equal(session_clients_check(&settings, &err), -EINVAL);
    assert_non_null(strstr(err.text, "--clients is for several clients"));
    session_clients_set(&two);
    assert_int_equal(session_clients_check(&settings, &err), 0);
    settings.format = FORMAT_CSV;
    assert_int_equal(session_clients_check(&settings, &err), -EINVAL);
    settings.format = FORMAT_TEXT;
    settings.workload.clients.value[1] = 3;
    assert_int_equal(session_clients_check(&settings, &err), -EINVAL);
    assert_non_null(strstr(err.text, "2 clients were started"));
    session_clients_set(NULL);
}

TEST(what_one_client_alone_knows_is_refused)
{
    struct session_clients two = {.n = 2};
    struct err err = {0};
    session_clients_set(&two);
    settings = (struct settings){.file = {.n = 1, .shared = true}};
    assert_int_equal(session_clients_check(&settings, &err), 0);
    settings.file.n = 2;
    assert_int_equal(session_clients_check(&settings, &err), -EINVAL);
    assert_non_null(strstr(err.text, "--files"));
    settings = (struct settings){.workload.verify = true};
    assert_int_equal(session_clients_check(&settings, &err), -EINVAL);
    assert_non_null(strstr(err.text, "--verify"));
    session_clients_set(NULL);
}

/* Tests of the addresses of servers; tests/fleet/run has a server. */
#include "tests/test.h"
#include "tuner/store/sql_address.h"
#include "tuner/store/sql_server.h"

#include <errno.h>

static struct err err;

static const char *value_of(const struct sql_address *address, const char *keyword)
{
    for (size_t i = 0; address->keywords[i] != NULL; i++) {
        if (strcmp(address->keywords[i], keyword) == 0)
            return address->values[i];
    }
    return NULL;
}

static int read_address(const char *text, struct sql_address *address)
{
    const struct libpq *pq;
    if (libpq_load(&pq, &err) < 0)
        skip();
    return sql_address_read(pq, text, address, &err);
}

TEST(an_address_is_told_from_a_file)
{
    assert_true(sql_server_is_address("postgresql://h/db"));
    assert_true(sql_server_is_address("postgres://h/db"));
    assert_false(sql_server_is_address("postgresql.db"));
    assert_false(sql_server_is_address("/var/lib/history.db"));
    assert_false(sql_server_is_address(""));
}

TEST(a_host_far_away_has_to_prove_who_it_is)
{
    static const struct {
        const char *address, *mode;
    } rows[] = {
        {"postgresql://fleet.example.org/f", "verify-full"},
        {"postgresql://10.0.0.1/f", "verify-full"},
        {"postgresql://localhost,fleet.example.org/f", "verify-full"},
        {"postgresql://127.example.org/f", "verify-full"},
        {"postgresql://localhost.example.org/f", "verify-full"},
        {"postgresql://f?service=far", "verify-full"},
        {"postgresql://localhost/f?hostaddr=10.0.0.1", "verify-full"},
        {"postgresql://fleet.example.org/f?sslmode=require", NULL},
        {"postgresql://localhost/f", NULL},
        {"postgresql://127.0.0.2:5433/f", NULL},
        {"postgresql://[::1]/f", NULL},
        {"postgresql:///f?host=/run/postgresql", NULL},
        {"postgresql:///f", NULL},
    };
    unsetenv("PGHOST");
    unsetenv("PGHOSTADDR");
    unsetenv("PGSERVICE");
    for (size_t i = 0; i < N_OF(rows); i++) {
        struct sql_address address;
        if (read_address(rows[i].address, &address) != 0)
            fail_msg("%s: %s", rows[i].address, err.text);
        const char *mode = value_of(&address, "sslmode");
        if ((mode == NULL) != (rows[i].mode == NULL))
            fail_msg("%s: sslmode %s", rows[i].address, mode != NULL ? mode : "left open");
    }
}

TEST(the_environment_may_name_a_host_far_away)
{
    struct sql_address address;
    setenv("PGHOST", "fleet.example.org", 1);
    assert_int_equal(read_address("postgresql:///f", &address), 0);
    unsetenv("PGHOST");
    assert_string_equal(value_of(&address, "sslmode"), "verify-full");
}

TEST(the_address_says_how_long_silence_may_last)
{
    struct sql_address address;
    assert_int_equal(read_address("postgresql://h/f", &address), 0);
    assert_int_equal(address.silence_ms, 30000);
    assert_int_equal(read_address("postgresql://h/f?tcp_user_timeout=1500", &address), 0);
    assert_int_equal(address.silence_ms, 1500);
    assert_int_equal(read_address("postgresql://h/f?tcp_user_timeout=0", &address), 0);
    assert_int_equal(address.silence_ms, 30000);
}

TEST(a_password_in_an_address_is_refused_and_not_repeated)
{
    struct sql_address address;
    assert_int_equal(read_address("postgresql://u:hunter2@h/f", &address), -EINVAL);
    assert_non_null(strstr(err.text, "~/.pgpass"));
    assert_null(strstr(err.text, "hunter2"));
    assert_int_equal(read_address("postgresql://h/f?password=hunter2", &address), -EINVAL);
}

TEST(an_address_that_is_none_is_refused)
{
    struct sql_address address;
    assert_int_equal(read_address("postgresql://h/f?colour=blue", &address), -EINVAL);
    assert_non_null(strstr(err.text, "colour"));
}

TEST(a_server_that_is_not_there_is_an_error_of_one_line)
{
    struct sql sql;
    const struct libpq *pq;
    if (libpq_load(&pq, &err) < 0)
        skip();
    assert_int_equal(sql_server_open(&sql, "postgresql:///f?host=/nonexistent", &err), -ENOTCONN);
    assert_null(strchr(err.text, '\n'));
}

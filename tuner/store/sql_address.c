/* tuner/store/sql_address: passwords, and hosts that have to prove who they are. */
#include "tuner/store/sql_address.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SILENCE_MS      30000
#define SILENCE_MS_TEXT "30000"

static const char *value_of(const PQconninfoOption *options, const char *keyword)
{
    for (; options->keyword != NULL; options++) {
        if (strcmp(options->keyword, keyword) == 0)
            return options->val != NULL && options->val[0] != '\0' ? options->val : NULL;
    }
    return NULL;
}

static bool is_near(const char *host, size_t length)
{
    static const char *const names[] = {"localhost", "::1"};
    /* A unix socket, of the file system or abstract. */
    if (length == 0 || host[0] == '/' || host[0] == '@')
        return true;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strlen(names[i]) == length && memcmp(host, names[i], length) == 0)
            return true;
    }
    /* Digits and points alone, so that no name that begins so is taken for an address. */
    return strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") >= length;
}

/* Every host of a list. */
static bool are_near(const char *hosts)
{
    for (;;) {
        size_t length = strcspn(hosts, ",");
        if (!is_near(hosts, length))
            return false;
        if (hosts[length] == '\0')
            return true;
        hosts += length + 1;
    }
}

/* Where the address names no host, libpq looks into the environment and, with a service, into a file. */
static bool stays_here(const PQconninfoOption *options)
{
    static const char *const keywords[] = {"host", "hostaddr"}, *const variables[] = {"PGHOST", "PGHOSTADDR"};
    if (value_of(options, "service") != NULL || getenv("PGSERVICE") != NULL)
        return false;
    for (size_t i = 0; i < 2; i++) {
        const char *hosts = value_of(options, keywords[i]);
        if (hosts == NULL)
            hosts = getenv(variables[i]);
        if (hosts != NULL && !are_near(hosts))
            return false;
    }
    return true;
}

static void add(struct sql_address *address, const PQconninfoOption *options, const char *keyword,
                const char *value)
{
    size_t n = 0;
    while (address->keywords[n] != NULL)
        n++;
    if (value_of(options, keyword) == NULL && n + 1 < SQL_ADDRESS_MOST) {
        address->keywords[n] = keyword;
        address->values[n] = value;
    }
}

/* NULL: not said. 0 is the system's own, which may be for ever. */
static int read_silence(const char *text)
{
    long ms = text != NULL ? strtol(text, NULL, 10) : 0;
    return ms > 0 && ms <= INT_MAX ? (int)ms : SILENCE_MS;
}

int sql_address_read(const struct libpq *pq, const char *address, struct sql_address *ret_address,
                     struct err *err)
{
    char *why = NULL;
    PQconninfoOption *options = pq->PQconninfoParse(address, &why);
    if (options == NULL) {
        size_t length = why != NULL ? strcspn(why, "\n") : 0;
        err_set(err, -EINVAL, "%.*s", (int)length, length > 0 ? why : "no memory");
        pq->PQfreemem(why);
        return -EINVAL;
    }
    bool has_password = value_of(options, "password") != NULL;
    *ret_address = (struct sql_address){.keywords = {"dbname"}, .values = {address}};
    ret_address->silence_ms = read_silence(value_of(options, "tcp_user_timeout"));
    if (!stays_here(options))
        add(ret_address, options, "sslmode", "verify-full");
    add(ret_address, options, "fallback_application_name", "fstune");
    add(ret_address, options, "connect_timeout", "10");
    add(ret_address, options, "tcp_user_timeout", SILENCE_MS_TEXT);
    add(ret_address, options, "keepalives_idle", "15");
    pq->PQconninfoFree(options);
    return has_password
               ? err_set(
                     err, -EINVAL,
                     "a password in an address is seen by everybody on the machine; write it into ~/.pgpass "
                     "(mode 0600) and leave it out")
               : 0;
}

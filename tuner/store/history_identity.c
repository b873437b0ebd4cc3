/* tuner/store/history: what makes two runs comparable - the storage, not the machine around it. */
#include "tuner/store/history.h"

#include "tuner/base/json.h"
#include "tuner/session/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* FNV-1a with 64 bits (Fowler, Noll, Vo 1991). */
#define FNV_OFFSET 0xcbf29ce484222325ULL
#define FNV_PRIME  0x100000001b3ULL

void history_fingerprint(const char *identity, char ret_fingerprint[HISTORY_FINGERPRINT_SIZE])
{
    uint64_t hash = FNV_OFFSET;
    for (const unsigned char *c = (const unsigned char *)identity; *c != '\0'; c++)
        hash = (hash ^ *c) * FNV_PRIME;
    snprintf(ret_fingerprint, HISTORY_FINGERPRINT_SIZE, "%016" PRIx64, hash);
}

static void copy_fact(json_t *identity, const struct hostinfo *host, const char *key)
{
    const struct hostinfo_fact *fact = hostinfo_find(host, key);
    if (fact != NULL)
        json_object_set_new(identity, key,
                            fact->kind == HOSTINFO_TEXT ? json_text(fact->text) : json_number(fact->number));
}

/* Names like sda follow the order in which disks were found at this boot: a model and a size say more. */
static void copy_device(json_t *identity, const struct hostinfo *host)
{
    if (hostinfo_find(host, "loop_backing_file") != NULL) {
        copy_fact(identity, host, "loop_backing_file");
    } else if (hostinfo_find(host, "device_model") != NULL) {
        copy_fact(identity, host, "device_model");
        copy_fact(identity, host, "fs_size_bytes");
    } else {
        copy_fact(identity, host, "mount_source");
    }
}

char *history_identity(const struct session *session)
{
    static const char *const keys[] = {"file_system",         "mount_options",        "fs_block_bytes",
                                       "logical_block_bytes", "physical_block_bytes", "rotational"};
    json_t *identity = json_object();
    if (session->simulated) {
        json_object_set_new(identity, "surface", json_text(session->simulator.name));
        json_object_set_new(identity, "points", json_integer((json_int_t)session->simulator.n_cells));
    } else {
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
            copy_fact(identity, &session->host, keys[i]);
        copy_device(identity, &session->host);
    }
    char *text = identity == NULL ? NULL : json_dumps(identity, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(identity);
    return text;
}

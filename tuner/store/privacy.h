/* tuner/store/privacy: names and serial numbers on their way to a fleet's server.
 *
 * A name becomes a pseudonym: a hash (SHA-256 of crypt(3)) of the machine's own secret, /etc/machine-id, and
 * the name. It is the same on every day, and other machines have other ones; who does not know the secret
 * cannot try names. What a host is (device model, file system, kernel, sizes) stays as it is. */
#pragma once

#include "bench/base/err.h"

#include <jansson.h>
#include <stddef.h>

#define PRIVACY_NAME_SIZE 24
#define PRIVACY_MOST      64

struct privacy {
    char secret[64];
    size_t n;
    /* Names met so far, the longest of a document first. */
    struct {
        char name[256], pseudonym[PRIVACY_NAME_SIZE];
    } known[PRIVACY_MOST];
};

/* path: of the secret; NULL: /etc/machine-id. -ENOENT where there is none, with what to do. */
int privacy_open(struct privacy *privacy, const char *path, struct err *err);

/* The pseudonym of a name, "x-" and 20 letters; of "" it is "". 0 or -EIO. */
int privacy_name(struct privacy *privacy, const char *name, char ret_pseudonym[PRIVACY_NAME_SIZE],
                 struct err *err);

/* A copy of a document without names: those that stand under the keys of names (hostname, path, mount_source,
 * ...), and the same words wherever they stand in a text. Names are remembered: a host's system tells them
 * for its answers. NULL where memory ran out or a pseudonym cannot be made. */
json_t *privacy_document(struct privacy *privacy, const json_t *document);

/* The same words in a text alone. 0 or -ENOMEM. */
int privacy_text(const struct privacy *privacy, const char *text, char *ret_text, size_t size);

/* tuner/picture/page_digest: SHA-256 (FIPS 180-4), by which a page's policy knows its own script and style.
 */
#ifndef FSTUNE_TUNER_PICTURE_PAGE_DIGEST_H
#define FSTUNE_TUNER_PICTURE_PAGE_DIGEST_H

#include <stddef.h>

#define PAGE_DIGEST_TEXT_SIZE 45

/* The digest in base64 (RFC 4648). Returns buffer. */
const char *page_digest(const void *bytes, size_t n_bytes, char buffer[PAGE_DIGEST_TEXT_SIZE]);

#endif

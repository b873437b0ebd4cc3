/* SHA-256 as FIPS 180-4 and other programs have it, around the lengths at which the padding changes. */
#include "tests/test.h"
#include "tuner/picture/page_digest.h"

#include <string.h>

TEST(digests_are_those_of_other_programs)
{
    static const struct {
        const char *text;
        size_t n_times;
        const char *digest;
    } cases[] = {
        {"", 0, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="},
        {"abc", 1, "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
         "JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE="},
        {"a", 55, "n0OQ+NMMLdkuyfCVtl4rmumwqSWlJY4kHJ8ekQ9zQxg="},
        {"a", 64, "/+BU/nrgy23GXDr5th1SCfQ5hR20PQulmXM33xVGaOs="},
        {"a", 1000, "Qe3s5C1j6Nm/UVqbppMuHCDLyfWl0TRkWttdsblzfqM="},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char bytes[1024] = "", text[PAGE_DIGEST_TEXT_SIZE];
        size_t length = strlen(cases[i].text);
        for (size_t k = 0; k < cases[i].n_times; k++)
            memcpy(bytes + k * length, cases[i].text, length);
        assert_string_equal(page_digest(bytes, length * cases[i].n_times, text), cases[i].digest);
    }
}

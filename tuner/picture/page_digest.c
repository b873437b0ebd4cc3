/* tuner/picture/page_digest: SHA-256 and base64. */
#include "tuner/picture/page_digest.h"

#include <stdint.h>
#include <string.h>

#define BLOCK       64
#define DIGEST_SIZE 32

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t constants[BLOCK] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned n)
{
    return (x >> n) | (x << (32 - n));
}

static void expand(uint32_t w[BLOCK], const unsigned char *block)
{
    for (size_t i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (size_t i = 16; i < BLOCK; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ (a >> 3)) +
               (rotate(b, 17) ^ rotate(b, 19) ^ (b >> 10));
    }
}

static void mix(uint32_t hash[8], const unsigned char *block)
{
    uint32_t w[BLOCK], s[8];
    expand(w, block);
    memcpy(s, hash, sizeof s);
    for (size_t i = 0; i < BLOCK; i++) {
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t first =
            s[7] + (rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25)) + choice + constants[i] + w[i];
        uint32_t second = (rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22)) + majority;
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += first;
        s[0] = first + second;
    }
    for (size_t i = 0; i < 8; i++)
        hash[i] += s[i];
}

/* What is left behind the whole blocks, a 1 bit, zeros, and the length in bits. */
static void finish(uint32_t hash[8], const unsigned char *rest, size_t n_rest, uint64_t n_bytes)
{
    unsigned char last[2 * BLOCK] = {0};
    size_t size = n_rest < BLOCK - 8 ? BLOCK : 2 * BLOCK;
    if (n_rest > 0)
        memcpy(last, rest, n_rest);
    last[n_rest] = 0x80;
    for (size_t i = 0; i < 8; i++)
        last[size - 1 - i] = (unsigned char)(8 * n_bytes >> 8 * i);
    for (size_t at = 0; at < size; at += BLOCK)
        mix(hash, last + at);
}

/* 32 bytes are ten groups of three, and two. */
static void encode(const unsigned char *bytes, char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < DIGEST_SIZE + 1; i += 3) {
        uint32_t group = (uint32_t)bytes[i] << 16 | (uint32_t)bytes[i + 1] << 8 | bytes[i + 2];
        for (unsigned k = 0; k < 4; k++)
            *text++ = digits[group >> (18 - 6 * k) & 63];
    }
    text[-1] = '=';
    *text = '\0';
}

const char *page_digest(const void *bytes, size_t n_bytes, char buffer[PAGE_DIGEST_TEXT_SIZE])
{
    uint32_t hash[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned char digest[DIGEST_SIZE + 1] = {0};
    const unsigned char *at = bytes;
    for (size_t left = n_bytes; left >= BLOCK; left -= BLOCK, at += BLOCK)
        mix(hash, at);
    finish(hash, at, n_bytes % BLOCK, n_bytes);
    for (size_t i = 0; i < DIGEST_SIZE; i++)
        digest[i] = (unsigned char)(hash[i / 4] >> (24 - 8 * (i % 4)));
    encode(digest, buffer);
    return buffer;
}

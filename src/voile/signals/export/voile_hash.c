/* See voile_hash.h. */
#include "voile_hash.h"

#include <string.h>

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turned(uint32_t v, int n) { return v >> n | v << (32 - n); }

static uint32_t sigma0(uint32_t v) { return turned(v, 7) ^ turned(v, 18) ^ v >> 3; }
static uint32_t sigma1(uint32_t v) { return turned(v, 17) ^ turned(v, 19) ^ v >> 10; }
static uint32_t sum0(uint32_t v) { return turned(v, 2) ^ turned(v, 13) ^ turned(v, 22); }
static uint32_t sum1(uint32_t v) { return turned(v, 6) ^ turned(v, 11) ^ turned(v, 25); }

/* A round of the standard; the names go round in place of the values. The majority of a, b and c is
 * b, but where b differs from both: a ^ b is the next round's b ^ c. */
#define ROUND(a, b, c, d, e, f, g, h, i) \
    h += sum1(e) + (g ^ (e & (f ^ g))) + k[i] + w[i]; \
    d += h; \
    now = a ^ b; \
    h += sum0(a) + (b ^ (now & before)); \
    before = now

/* One of the rounds from the 16th on, before which the oldest word of the schedule is renewed. */
#define LATER(a, b, c, d, e, f, g, h, i) \
    w[i] += sigma0(w[(i + 1) % 16]) + w[(i + 9) % 16] + sigma1(w[(i + 14) % 16]); \
    ROUND(a, b, c, d, e, f, g, h, i)

#define EIGHT(ROUND, i) \
    ROUND(a, b, c, d, e, f, g, h, i); \
    ROUND(h, a, b, c, d, e, f, g, i + 1); \
    ROUND(g, h, a, b, c, d, e, f, i + 2); \
    ROUND(f, g, h, a, b, c, d, e, i + 3); \
    ROUND(e, f, g, h, a, b, c, d, i + 4); \
    ROUND(d, e, f, g, h, a, b, c, i + 5); \
    ROUND(c, d, e, f, g, h, a, b, i + 6); \
    ROUND(b, c, d, e, f, g, h, a, i + 7)

static void compress(uint32_t state[8], const uint8_t block[64])
{
    const uint32_t *k = K;
    uint32_t w[16], now, before;
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16
             | (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    before = b ^ c;
    EIGHT(ROUND, 0);
    EIGHT(ROUND, 8);
    for (k += 16; k < K + 64; k += 16) {
        EIGHT(LATER, 0);
        EIGHT(LATER, 8);
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

void voile_begin(voile_hash *s)
{
    static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(s->h, first, sizeof first);
    s->n = 0;
}

void voile_add(voile_hash *s, const void *data, size_t n)
{
    const uint8_t *bytes = data;
    size_t at = s->n % 64;
    s->n += n;
    for (; n >= 64 - at; at = 0) {
        const size_t some = 64 - at;
        memcpy(s->block + at, bytes, some);
        compress(s->h, s->block);
        bytes += some, n -= some;
    }
    memcpy(s->block + at, bytes, n);
}

void voile_finish(voile_hash *s, uint8_t out[32])
{
    const uint64_t bits = s->n * 8;
    size_t at = s->n % 64;
    s->block[at++] = 0x80;
    if (at > 56) {
        while (at < 64)
            s->block[at++] = 0;
        compress(s->h, s->block);
        at = 0;
    }
    while (at < 56)
        s->block[at++] = 0;
    for (int i = 0; i < 8; i++)
        s->block[56 + i] = (uint8_t)(bits >> (56 - 8 * i));
    compress(s->h, s->block);
    for (int i = 0; i < 32; i++)
        out[i] = (uint8_t)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

static void hash_pad(uint32_t state[8], const uint8_t *bytes, size_t n, uint8_t pad)
{
    voile_hash s;
    uint8_t block[64];
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = i < n ? bytes[i] ^ pad : pad;
    voile_begin(&s);
    voile_add(&s, block, sizeof block);
    memcpy(state, s.h, sizeof s.h);
}

void voile_set_key(voile_key *key, const uint8_t *bytes, size_t n)
{
    hash_pad(key->inner, bytes, n, 0x36);
    hash_pad(key->outer, bytes, n, 0x5c);
}

static void begin_after(voile_hash *s, const uint32_t state[8])
{
    memcpy(s->h, state, sizeof s->h);
    s->n = sizeof s->block;
}

void voile_begin_keyed(voile_hash *s, const voile_key *key) { begin_after(s, key->inner); }

void voile_finish_keyed(voile_hash *s, const voile_key *key, uint8_t out[32])
{
    voile_finish(s, out);
    begin_after(s, key->outer);
    voile_add(s, out, 32);
    voile_finish(s, out);
}

void voile_mac(const voile_key *key, const void *data, size_t n, uint8_t out[32])
{
    voile_hash s;
    voile_begin_keyed(&s, key);
    voile_add(&s, data, n);
    voile_finish_keyed(&s, key, out);
}

void voile_sha256(const uint8_t *data, size_t n, uint8_t out[32])
{
    voile_hash s;
    voile_begin(&s);
    voile_add(&s, data, n);
    voile_finish(&s, out);
}

/* key: at most 64 bytes. */
void voile_hmac(const uint8_t *key, size_t k, const uint8_t *data, size_t n, uint8_t out[32])
{
    voile_key own;
    voile_set_key(&own, key, k);
    voile_mac(&own, data, n, out);
}

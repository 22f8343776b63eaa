/* SHA-256 (FIPS 180-4) and HMAC (RFC 2104), under keys of at most 64 bytes. */
#ifndef VOILE_HASH_H
#define VOILE_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t h[8];
    uint64_t n;
    uint8_t block[64];
} voile_hash;

/* A key of HMAC, whose two pads are hashed once. */
typedef struct {
    uint32_t inner[8], outer[8];
} voile_key;

void voile_begin(voile_hash *s);
void voile_add(voile_hash *s, const void *data, size_t n);
void voile_finish(voile_hash *s, uint8_t out[32]);
void voile_set_key(voile_key *key, const uint8_t *bytes, size_t n);
void voile_begin_keyed(voile_hash *s, const voile_key *key);
void voile_finish_keyed(voile_hash *s, const voile_key *key, uint8_t out[32]);
void voile_mac(const voile_key *key, const void *data, size_t n, uint8_t out[32]);

void voile_sha256(const uint8_t *data, size_t n, uint8_t out[32]);
void voile_hmac(const uint8_t *key, size_t k, const uint8_t *data, size_t n, uint8_t out[32]);

#endif

/* Bytes, numbers and texts, each written at a place: what is returned is the place after it. */
#ifndef VOILE_BYTES_H
#define VOILE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Write a text that stands in the program. */
#define SAY(at, text) put(at, text, sizeof text - 1)

static inline size_t length_of(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    return n;
}

/* Whether n bytes are the same, in a time that does not depend on them. */
static inline int same(const void *a, const void *b, size_t n)
{
    const uint8_t *one = a, *other = b;
    uint8_t apart = 0;
    for (size_t i = 0; i < n; i++)
        apart |= one[i] ^ other[i];
    return apart == 0;
}

static inline uint8_t *put(uint8_t *at, const void *data, size_t n)
{
    memcpy(at, data, n);
    return at + n;
}

/* The n lowest bytes of a whole number, the highest first. */
static inline uint8_t *put_big(uint8_t *at, uint64_t v, int n)
{
    for (int i = n - 1; i >= 0; i--)
        *at++ = (uint8_t)(v >> (8 * i));
    return at;
}

static inline uint64_t big(const uint8_t *data, int n)
{
    uint64_t v = 0;
    for (int i = 0; i < n; i++)
        v = v << 8 | data[i];
    return v;
}

/* The bytes of doubles, the lowest of each first. */
static inline uint8_t *put_doubles(uint8_t *at, const double *v, int n)
{
    for (int j = 0; j < n; j++) {
        uint64_t bits;
        memcpy(&bits, v + j, 8);
        for (int i = 0; i < 8; i++)
            *at++ = (uint8_t)(bits >> (8 * i));
    }
    return at;
}

/* A whole number of eight bytes, the lowest first. */
static inline uint64_t little(const uint8_t *data)
{
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--)
        v = v << 8 | data[i];
    return v;
}

static inline double double_of(const uint8_t *data)
{
    const uint64_t bits = little(data);
    double v;
    memcpy(&v, &bits, 8);
    return v;
}

static inline uint8_t *put_hex(uint8_t *at, const uint8_t *data, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        *at++ = (uint8_t)digits[data[i] >> 4];
        *at++ = (uint8_t)digits[data[i] & 15];
    }
    return at;
}

/* A whole number in at most 20 digits. */
static inline uint8_t *put_whole(uint8_t *at, uint64_t v)
{
    uint8_t digits[20];
    int n = 20;
    do
        digits[--n] = (uint8_t)('0' + v % 10);
    while (v /= 10);
    return put(at, digits + n, 20 - (size_t)n);
}

/* A multiple of 2^-44 below 2^53, every digit of it, in at most 62 bytes. */
static inline uint8_t *put_number(uint8_t *at, double v)
{
    const uint64_t mask = ((uint64_t)1 << 44) - 1;
    if (v < 0) {
        *at++ = '-';
        v = -v;
    }
    const uint64_t units = (uint64_t)v;
    uint64_t rest = (uint64_t)((v - (double)units) * 17592186044416.0);
    at = put_whole(at, units);
    *at++ = '.';
    do { /* two digits at a time: half as many steps that wait for the one before */
        const uint8_t two = (uint8_t)((rest *= 100) >> 44);
        rest &= mask;
        *at++ = (uint8_t)('0' + two / 10);
        *at++ = (uint8_t)('0' + two % 10);
    } while (rest);
    return at[-1] == '0' ? at - 1 : at;
}

#endif

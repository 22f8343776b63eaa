/* A small device's end: readings of one subject, encoded so that they hide its class.
 *
 * C99 with IEEE 754 doubles; no allocation, and nothing of the C library but memcpy. Compile
 * the three files with -ffp-contract=off and without -ffast-math. The tables are those of
 * one kit (voile_tables.h) and hold every class alike; which class the device is of stands in its
 * record alone, which `voile signals enrol --small` writes, with the subject's known columns if
 * the kit has any: where they change, the device is given a new record and begins anew. Dither is drawn from the key in the
 * record: a device that is restored, cloned or begun again encodes a reading with the same bits.
 */
#ifndef VOILE_H
#define VOILE_H

#include <stddef.h>
#include <stdint.h>

#include "voile_hash.h"
#include "voile_tables.h"

/* Bytes of a device's record: with known columns, these and their proof stand in it as well. */
#define VOILE_RECORD (149 + (VOILE_KNOWN ? 8 * VOILE_KNOWN + 32 : 0))
#define VOILE_DRAW (8 * VOILE_COLUMNS) /* bytes of dither that one reading takes */
#define VOILE_BESIDE 256          /* longest JSON object beside a reading, in bytes */
#define VOILE_LETTER (128 + VOILE_BESIDE + 64 * VOILE_COLUMNS)
#define VOILE_POST (68 + VOILE_LETTER) /* longest message */
#define VOILE_REPLY 164           /* bytes of every reply */
#define VOILE_TOPIC 160           /* longest topic, in bytes */

enum {
    VOILE_OK = 0,
    VOILE_NO_CLASS = 1,    /* the kit has no such class */
    VOILE_MISSING = 2,     /* a reading or message is missing or infinite */
    VOILE_OFF = 3,         /* a reading contradicts its column's resolution */
    VOILE_FAR = 4,         /* a reading lies too far out to be carried exactly */
    VOILE_IMPLAUSIBLE = 5, /* a message decodes to what no reading can be */
    VOILE_ENTROPY = 6,     /* no entropy to name a session by: none was begun */
    VOILE_STORE = 7,       /* the state could not be stored: nothing was sent */
    VOILE_RECORD_BAD = 8,  /* the record is damaged, or of another kit */
    VOILE_STATE_BAD = 9,   /* the stored state is damaged, or of another kit, subject, class or
                              known columns: open without it, and a new session begins */
    VOILE_WAITING = 10,    /* a message is under way: post it again until its receipt is here */
    VOILE_NOTHING = 11,    /* nothing is under way */
    VOILE_LONG = 12,       /* what goes beside a reading, or a topic, is too long */
    VOILE_NOT_OURS = 13,   /* a reply without our MAC, of another session, or malformed */
    VOILE_STEP = 14,       /* the two ends are out of step: begin again */
    VOILE_INEXACT = 16,    /* compiled with fused multiply-adds: say -ffp-contract=off */
    VOILE_KNOWN_OFF = 17,  /* a known column contradicts its resolution, or is no such name */
    VOILE_REFUSED = 15     /* the recipient refuses the message; its word is in `refused` */
};

/* The map alone. x, z: VOILE_COLUMNS numbers; draw: VOILE_DRAW bytes that nobody can guess, never
 * the same for two readings. known: VOILE_KNOWN known columns, names by their number in map.json,
 * what is missing as NaN; NULL where the kit has none. Both ends must have the same: others decode
 * to another reading. */
int voile_encode(int which, const double *x, const double *known, const uint8_t *draw, double *z);
/* The lattice's values nearest to a reading's. */
void voile_nearest(const double *x, double *near);
int voile_decode(int which, const double *z, const double *known, double *x);

/* Whether products are rounded before they are added, as -ffp-contract=off asks. */
int voile_is_exact(void);

typedef struct {
    uint8_t seal[8];     /* digest of all below, against damage */
    uint8_t session[16]; /* its name, public */
    uint64_t before;     /* readings acknowledged in sessions before this one */
    uint64_t number;     /* messages acknowledged */
    uint8_t check[8];    /* digest of these */
    uint8_t next[8];     /* the digest with the message under way */
    uint8_t mark[8];     /* of the kit */
    uint8_t whose[8];    /* digest of subject, class and known columns */
    double values[VOILE_COLUMNS]; /* of the message under way */
    uint32_t length;              /* bytes that go beside them; 0: none is under way */
    char beside[VOILE_BESIDE];
} voile_state;

typedef struct {
    /* Fill n bytes with fresh entropy and return 0. Never from a seed that a snapshot holds. */
    int (*entropy)(void *context, uint8_t *out, size_t n);
    /* Write the state where a loss of power leaves it or the one before, and return 0. */
    int (*store)(void *context, const voile_state *state);
    void *context;
} voile_ways;

typedef struct {
    voile_ways ways;
    voile_state state;
    voile_key mac, dither;
    voile_hash posted;  /* the MAC of what all messages of the session begin with, so far */
    uint8_t header[29]; /* the last of it */
    uint8_t whose[8], proof[32]; /* the last: of the known columns */
    double known[VOILE_KNOWN + 1];                    /* the last is nobody's */
    uint16_t generation, which;
    char posts[VOILE_TOPIC], hears[VOILE_TOPIC]; /* topics, to publish to and to subscribe to */
    char refused[16];
} voile_end;

/* Open an end. stored: what `store` was given last, or NULL on a device's first start. */
int voile_open(voile_end *end, const uint8_t record[VOILE_RECORD], const char *topic,
               const voile_state *stored, const voile_ways *ways);

/* Encode a reading and store it as the message under way. beside: a JSON object, or NULL. */
int voile_send(voile_end *end, const double *x, const char *beside);

/* Write the message under way; the same bytes each time. */
int voile_post(voile_end *end, uint8_t out[VOILE_POST], size_t *length);

/* Take a reply in: VOILE_OK where it acknowledges, or changes nothing. */
int voile_hear(voile_end *end, const uint8_t *reply, size_t length);

/* Begin a new session, after VOILE_STEP; the reading under way is dropped, to be sent anew. */
int voile_begin_again(voile_end *end);

/* Forget the key and the class in memory. */
void voile_close(voile_end *end);

#endif

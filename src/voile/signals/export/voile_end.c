/* The end of voile.h: what is sent, proved, stored and acknowledged. */
#include "voile.h"

#include <string.h>

#define MAC 32
#define HEADER 36

static size_t length_of(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    return n;
}

/* Whether n bytes are the same, in a time that does not depend on them. */
static int same(const uint8_t *a, const uint8_t *b, size_t n)
{
    uint8_t apart = 0;
    for (size_t i = 0; i < n; i++)
        apart |= a[i] ^ b[i];
    return apart == 0;
}

/* Begin the MAC of what stands at a place, whose length stands before it. */
static void begin_mac(voile_hash *s, const voile_key *key, const char *place)
{
    const size_t long_ = length_of(place);
    const uint8_t length[4] = {0, 0, (uint8_t)(long_ >> 8), (uint8_t)long_};
    voile_begin_keyed(s, key);
    voile_add(s, length, 4);
    voile_add(s, place, long_);
}

static void mac_of(const voile_key *key, const char *place, const uint8_t *data, size_t n,
                   uint8_t out[32])
{
    voile_hash s;
    begin_mac(&s, key, place);
    voile_add(&s, data, n);
    voile_finish_keyed(&s, key, out);
}

/* Texts: appended where they fit, and never beyond. */

typedef struct {
    char *out;
    size_t n, room;
} text;

static void put(text *t, const char *more, size_t n)
{
    for (size_t i = 0; i < n; i++, t->n++)
        if (t->n < t->room)
            t->out[t->n] = more[i];
}

static void say(text *t, const char *more) { put(t, more, length_of(more)); }

static void put_hex(text *t, const uint8_t *data, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        put(t, &"0123456789abcdef"[data[i] >> 4], 1);
        put(t, &"0123456789abcdef"[data[i] & 15], 1);
    }
}

static void put_whole(text *t, uint64_t v)
{
    char digits[20];
    int n = 0;
    do
        digits[n++] = (char)('0' + v % 10);
    while (v /= 10);
    while (n)
        put(t, &digits[--n], 1);
}

/* A multiple of 2^-44, every digit of it. */
static void put_number(text *t, double v)
{
    if (v < 0) {
        say(t, "-");
        v = -v;
    }
    const uint64_t units = (uint64_t)v;
    uint64_t rest = (uint64_t)((v - (double)units) * 17592186044416.0);
    put_whole(t, units);
    say(t, ".");
    do {
        const char digit = (char)('0' + ((rest *= 10) >> 44));
        rest &= ((uint64_t)1 << 44) - 1;
        put(t, &digit, 1);
    } while (rest);
}

static void put_big(uint8_t *out, uint64_t v, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = (uint8_t)(v >> (8 * (n - 1 - i)));
}

static uint64_t big(const uint8_t *data, int n)
{
    uint64_t v = 0;
    for (int i = 0; i < n; i++)
        v = v << 8 | data[i];
    return v;
}

/* The bytes of a double, the lowest first. */
static void bytes_of(double v, uint8_t out[8])
{
    uint64_t bits;
    memcpy(&bits, &v, 8);
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(bits >> (8 * i));
}

/* The double of such bytes. */
static double of_bytes(const uint8_t data[8])
{
    uint64_t bits = 0;
    double v;
    for (int i = 7; i >= 0; i--)
        bits = bits << 8 | data[i];
    memcpy(&v, &bits, 8);
    return v;
}

/* The digest with one more message: of its numbers, as the line shows them. */
static void chain(const uint8_t check[8], const double *z, uint8_t next[8])
{
    char hex[16];
    text t = {hex, 0, sizeof hex};
    uint8_t out[32];
    voile_hash s;
    put_hex(&t, check, 8);
    voile_begin(&s);
    voile_add(&s, hex, sizeof hex);
    for (int j = 0; j < VOILE_COLUMNS; j++) {
        uint8_t bytes[8];
        bytes_of(z[j], bytes);
        voile_add(&s, bytes, 8);
    }
    voile_finish(&s, out);
    memcpy(next, out, 8);
}

/* The state, and its digest against damage. */

static void digest_of(const voile_state *state, uint8_t seal[8])
{
    uint8_t out[32];
    const size_t n = offsetof(voile_state, letter) + state->length - sizeof state->seal;
    voile_sha256((const uint8_t *)state + sizeof state->seal, n, out);
    memcpy(seal, out, 8);
}

/* Write the header that all messages of the session begin with, and begin their MAC with it. */
static void begin_posts(voile_end *end)
{
    uint8_t *header = end->header;
    header[0] = 2; /* the envelope's format; not sealed */
    header[1] = 0;
    put_big(header + 2, end->generation, 2);
    memcpy(header + 4, voile_mark, 8);
    memcpy(header + 12, end->state.session, 16);
    header[28] = 0; /* a number is below 2^53 */
    begin_mac(&end->posted, &end->mac, end->posts);
    voile_add(&end->posted, header, sizeof end->header);
}

/* Store a state and take it over; nothing changes where it cannot be stored. */
static int keep(voile_end *end, voile_state *state)
{
    digest_of(state, state->seal);
    if (!end->ways.store || end->ways.store(end->ways.context, state) != 0)
        return VOILE_STORE;
    end->state = *state;
    return VOILE_OK;
}

static int draw(voile_end *end, uint8_t *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = 0;
    if (!end->ways.entropy || end->ways.entropy(end->ways.context, out, n) != 0)
        return VOILE_ENTROPY;
    uint8_t any = 0;
    for (size_t i = 0; i < n; i++)
        any |= out[i];
    return any ? VOILE_OK : VOILE_ENTROPY; /* a source that writes nothing */
}

/* Draw the dither of a reading: of the key, the kit, the class, the known columns, the reading and
 * its number. */
static void dither_of(const voile_end *end, const double *x, uint8_t out[VOILE_DRAW])
{
    double near[VOILE_COLUMNS];
    uint8_t block[32], fixed[19];
    memcpy(fixed, voile_mark, 8);
    put_big(fixed + 8, end->which, 2);
    put_big(fixed + 10, end->state.before + end->state.number, 8);
    voile_nearest(x, near);
    for (int j = 0; j < VOILE_COLUMNS; j++) {
        if (j % 4 == 0) {
            voile_hash s;
            fixed[18] = (uint8_t)(j / 4);
            voile_begin_keyed(&s, &end->dither);
            voile_add(&s, fixed, sizeof fixed);
            voile_add(&s, end->proof, VOILE_KNOWN ? sizeof end->proof : 0);
            for (int i = 0; i < VOILE_COLUMNS; i++) {
                uint8_t bytes[8];
                bytes_of(near[i], bytes);
                voile_add(&s, bytes, 8);
            }
            voile_finish_keyed(&s, &end->dither, block);
        }
        memcpy(out + 8 * j, block + 8 * (j % 4), 8);
    }
}

int voile_begin_again(voile_end *end)
{
    voile_state state;
    const uint64_t before = end->state.before + end->state.number;
    uint8_t out[32];
    char name[49];
    text t = {name, 0, sizeof name};
    for (size_t i = 0; i < sizeof state; i++)
        ((uint8_t *)&state)[i] = 0;
    memcpy(state.whose, end->whose, 8);
    state.before = before;
    if (draw(end, state.session, sizeof state.session) != VOILE_OK)
        return VOILE_ENTROPY;
    memcpy(state.mark, voile_mark, 8);
    put_hex(&t, voile_mark, 8);
    say(&t, " ");
    put_hex(&t, state.session, sizeof state.session);
    if (VOILE_KNOWN) /* a clinic with other known columns has another digest, and refuses */
        voile_hmac(end->proof, sizeof end->proof, (const uint8_t *)name, sizeof name, out);
    else
        voile_sha256((const uint8_t *)name, sizeof name, out);
    memcpy(state.check, out, 8);
    const int wrong = keep(end, &state);
    begin_posts(end);
    return wrong;
}

static int set_topic(char *out, const char *topic, const uint8_t *pseudonym, size_t n,
                     const char *box)
{
    text t = {out, 0, VOILE_TOPIC};
    say(&t, topic);
    say(&t, "/");
    put(&t, (const char *)pseudonym, n);
    put(&t, box, length_of(box) + 1);
    return t.n <= t.room;
}

static int opened(voile_end *end, const uint8_t *record, const char *topic,
                  const voile_state *stored, const voile_ways *ways)
{
    uint8_t mac[MAC], seal[8];
    if (!voile_is_exact())
        return VOILE_INEXACT;
    voile_hmac(record + 85, 32, (const uint8_t *)"voile mac", 9, mac);
    voile_set_key(&end->mac, mac, sizeof mac);
    voile_hmac(record + 85, 32, (const uint8_t *)"voile dither", 12, mac);
    voile_set_key(&end->dither, mac, sizeof mac);
    mac_of(&end->mac, "device", record, VOILE_RECORD - MAC, mac);
    const size_t n = record[20];
    const uint64_t which = big(record + 18, 2);
    if (!same(mac, record + VOILE_RECORD - MAC, MAC) || !same(record, (const uint8_t *)"VOILEDV1", 8)
        || !same(record + 8, voile_mark, 8) || n > 64 || which >= VOILE_CLASSES)
        return VOILE_RECORD_BAD;
    voile_hash s;
    voile_begin(&s);
    voile_add(&s, record + 18, 67);
    voile_add(&s, record + 117, VOILE_RECORD - MAC - 117);
    voile_finish(&s, mac);
    memcpy(end->whose, mac, 8);
    for (int j = 0; j < VOILE_KNOWN; j++)
        end->known[j] = of_bytes(record + 117 + 8 * j);
    if (VOILE_KNOWN)
        memcpy(end->proof, record + 117 + 8 * VOILE_KNOWN, sizeof end->proof);
    end->ways = *ways;
    end->generation = (uint16_t)big(record + 16, 2);
    end->which = (uint16_t)which;
    if (!set_topic(end->posts, topic, record + 21, n, "/readings")
        || !set_topic(end->hears, topic, record + 21, n, "/receipts"))
        return VOILE_LONG;
    if (!stored)
        return voile_begin_again(end);
    if (stored->length > VOILE_LETTER || stored->number >> 53)
        return VOILE_STATE_BAD;
    digest_of(stored, seal);
    if (!same(seal, stored->seal, 8) || !same(stored->mark, voile_mark, 8)
        || !same(stored->whose, end->whose, 8))
        return VOILE_STATE_BAD;
    end->state = *stored;
    begin_posts(end);
    return VOILE_OK;
}

int voile_open(voile_end *end, const uint8_t record[VOILE_RECORD], const char *topic,
               const voile_state *stored, const voile_ways *ways)
{
    voile_close(end);
    const int wrong = opened(end, record, topic, stored, ways);
    if (wrong)
        voile_close(end); /* what is not open draws nothing, and so sends nothing */
    return wrong;
}

void voile_close(voile_end *end)
{
    volatile uint8_t *bytes = (volatile uint8_t *)end;
    for (size_t i = 0; i < sizeof *end; i++)
        bytes[i] = 0;
}

int voile_send(voile_end *end, const double *x, const char *beside)
{
    voile_state state = end->state;
    uint8_t drawn[VOILE_DRAW];
    double z[VOILE_COLUMNS];
    text t = {state.letter, 0, VOILE_LETTER};
    if (state.length)
        return VOILE_WAITING;
    if (beside && length_of(beside) > VOILE_BESIDE)
        return VOILE_LONG;
    dither_of(end, x, drawn);
    const int wrong = voile_encode(end->which, x, end->known, drawn, z);
    if (wrong)
        return wrong;
    say(&t, "{\"ahead\":1,\"after\":");
    put_whole(&t, state.number);
    say(&t, ",\"check\":\"");
    put_hex(&t, state.check, 8);
    say(&t, "\",\"values\":[");
    for (int j = 0; j < VOILE_COLUMNS; j++) {
        say(&t, j ? "," : "");
        put_number(&t, z[j]);
    }
    say(&t, "],\"beside\":");
    say(&t, beside ? beside : "{}");
    say(&t, "}");
    if (t.n > t.room)
        return VOILE_LONG;
    state.length = (uint32_t)t.n;
    chain(state.check, z, state.next);
    return keep(end, &state);
}

int voile_post(voile_end *end, uint8_t out[VOILE_POST], size_t *length)
{
    const voile_state *state = &end->state;
    uint8_t *rest = out + MAC + sizeof end->header;
    voile_hash s = end->posted;
    if (!state->length)
        return VOILE_NOTHING;
    memcpy(out + MAC, end->header, sizeof end->header);
    put_big(rest, state->number + 1, 7);
    memcpy(rest + 7, state->letter, state->length);
    *length = MAC + HEADER + state->length;
    voile_add(&s, rest, 7 + state->length);
    voile_finish_keyed(&s, &end->mac, out);
    return VOILE_OK;
}

/* Whether a text stands here; it is then stepped over. */
static int is_next(const char **at, const char *expected)
{
    size_t n = length_of(expected);
    if (!same((const uint8_t *)*at, (const uint8_t *)expected, n))
        return 0;
    *at += n;
    return 1;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Read a reply's content, 96 bytes. The recipient writes it always in the same way. */
static int read_reply(voile_end *end, const char *at, uint8_t check[8])
{
    int n = 0;
    if (!is_next(&at, "{\"check\":\""))
        return 0;
    for (n = 0; n < 16 && digit_of(at[n]) >= 0; n++)
        check[n / 2] = (uint8_t)(n % 2 ? check[n / 2] | digit_of(at[n]) : digit_of(at[n]) << 4);
    at += n;
    if ((n != 16 && n != 0) || !is_next(&at, "\",\"again\":"))
        return 0;
    if (!is_next(&at, "true") && !is_next(&at, "false"))
        return 0;
    if (!is_next(&at, ",\"refused\":\""))
        return 0;
    for (n = 0; n < 15 && at[n] >= 'a' && at[n] <= 'z'; n++)
        end->refused[n] = at[n];
    end->refused[n] = 0;
    at += n;
    return is_next(&at, "\"}");
}

int voile_hear(voile_end *end, const uint8_t *reply, size_t length)
{
    voile_state state = end->state;
    const uint8_t *header = reply + MAC;
    uint8_t mac[MAC], check[8] = {0};
    if (length != VOILE_REPLY)
        return VOILE_NOT_OURS;
    mac_of(&end->mac, end->hears, header, VOILE_REPLY - MAC, mac);
    if (!same(mac, reply, MAC) || header[0] != 2 || header[1] != 0
        || big(header + 2, 2) != end->generation || !same(header + 12, state.session, 16)
        || !read_reply(end, (const char *)header + HEADER, check))
        return VOILE_NOT_OURS;
    const uint64_t number = big(header + 28, 8), under_way = state.number + (state.length ? 1 : 0);
    if (end->refused[0])
        return state.length && number == under_way ? VOILE_REFUSED : VOILE_OK;
    if (number < state.number || (number == state.number && same(check, state.check, 8)))
        return VOILE_OK; /* an old one changes nothing */
    if (number != under_way || number == state.number || !same(check, state.next, 8))
        return VOILE_STEP;
    state.number = number;
    memcpy(state.check, state.next, 8);
    state.length = 0;
    return keep(end, &state);
}

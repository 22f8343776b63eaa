/* The end of voile.h: what is sent, proved, stored and acknowledged. */
#include "voile.h"
#include "voile_bytes.h"

#define MAC 32
#define HEADER 36

/* Begin the MAC of what stands at a place, whose length stands before it. */
static void begin_mac(voile_hash *s, const voile_key *key, const char *place)
{
    const size_t long_ = length_of(place);
    uint8_t length[4];
    put_big(length, long_, 4);
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

/* The digest with one more message: of its numbers, as the line shows them. */
static void chain(const uint8_t check[8], const double *z, uint8_t next[8])
{
    uint8_t data[16 + VOILE_DRAW], out[32];
    put_doubles(put_hex(data, check, 8), z, VOILE_COLUMNS);
    voile_sha256(data, sizeof data, out);
    memcpy(next, out, 8);
}

/* The state, and its digest against damage. */

static void digest_of(const voile_state *state, uint8_t seal[8])
{
    uint8_t out[32];
    const size_t n = offsetof(voile_state, beside) + state->length - sizeof state->seal;
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
    uint8_t of[19 + sizeof end->proof + VOILE_DRAW], block[32], *at = put(of, voile_mark, 8);
    at = put_big(at, end->which, 2);
    at = put_big(at, end->state.before + end->state.number, 8);
    uint8_t *const part = at++;
    at = put(at, end->proof, VOILE_KNOWN ? sizeof end->proof : 0);
    voile_nearest(x, near);
    at = put_doubles(at, near, VOILE_COLUMNS);
    for (size_t done = 0; done < VOILE_DRAW; done += sizeof block) {
        const size_t left = VOILE_DRAW - done;
        *part = (uint8_t)(done / sizeof block);
        voile_mac(&end->dither, of, (size_t)(at - of), block);
        memcpy(out + done, block, left < sizeof block ? left : sizeof block);
    }
}

int voile_begin_again(voile_end *end)
{
    voile_state state;
    const uint64_t before = end->state.before + end->state.number;
    uint8_t name[49], out[32];
    for (size_t i = 0; i < sizeof state; i++)
        ((uint8_t *)&state)[i] = 0;
    memcpy(state.whose, end->whose, 8);
    state.before = before;
    if (draw(end, state.session, sizeof state.session) != VOILE_OK)
        return VOILE_ENTROPY;
    memcpy(state.mark, voile_mark, 8);
    put_hex(SAY(put_hex(name, voile_mark, 8), " "), state.session, sizeof state.session);
    if (VOILE_KNOWN) /* a clinic with other known columns has another digest, and refuses */
        voile_hmac(end->proof, sizeof end->proof, name, sizeof name, out);
    else
        voile_sha256(name, sizeof name, out);
    memcpy(state.check, out, 8);
    const int wrong = keep(end, &state);
    begin_posts(end);
    return wrong;
}

static int set_topic(char *out, const char *topic, const uint8_t *name, size_t n, const char *box)
{
    const size_t first = length_of(topic), last = length_of(box) + 1;
    uint8_t *at = (uint8_t *)out;
    if (first + 1 + n + last > VOILE_TOPIC)
        return 0;
    put(put(SAY(put(at, topic, first), "/"), name, n), box, last);
    return 1;
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
    if (!same(mac, record + VOILE_RECORD - MAC, MAC) || !same(record, "VOILEDV1", 8)
        || !same(record + 8, voile_mark, 8) || n > 64 || which >= VOILE_CLASSES)
        return VOILE_RECORD_BAD;
    voile_hash s;
    voile_begin(&s);
    voile_add(&s, record + 18, 67);
    voile_add(&s, record + 117, VOILE_RECORD - MAC - 117);
    voile_finish(&s, mac);
    memcpy(end->whose, mac, 8);
    for (int j = 0; j < VOILE_KNOWN; j++)
        end->known[j] = double_of(record + 117 + 8 * j);
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
    if (stored->length > VOILE_BESIDE || stored->number >> 53)
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
    const char *with_it = beside && *beside ? beside : "{}";
    const size_t length = length_of(with_it);
    if (state.length)
        return VOILE_WAITING;
    if (length > VOILE_BESIDE)
        return VOILE_LONG;
    dither_of(end, x, drawn);
    const int wrong = voile_encode(end->which, x, end->known, drawn, state.values);
    if (wrong)
        return wrong;
    memcpy(state.beside, with_it, length);
    state.length = (uint32_t)length;
    chain(state.check, state.values, state.next);
    return keep(end, &state);
}

/* Write the letter under way. */
static uint8_t *put_letter(uint8_t *at, const voile_state *state)
{
    at = put_whole(SAY(at, "{\"ahead\":1,\"after\":"), state->number);
    at = put_hex(SAY(at, ",\"check\":\""), state->check, 8);
    at = SAY(at, "\",\"values\":[");
    for (int j = 0; j < VOILE_COLUMNS; j++)
        at = put_number(j ? SAY(at, ",") : at, state->values[j]);
    at = put(SAY(at, "],\"beside\":"), state->beside, state->length);
    return SAY(at, "}");
}

int voile_post(voile_end *end, uint8_t out[VOILE_POST], size_t *length)
{
    voile_hash s = end->posted;
    if (!end->state.length)
        return VOILE_NOTHING;
    uint8_t *const rest = put(out + MAC, end->header, sizeof end->header);
    uint8_t *const last = put_letter(put_big(rest, end->state.number + 1, 7), &end->state);
    voile_add(&s, rest, (size_t)(last - rest));
    voile_finish_keyed(&s, &end->mac, out);
    *length = (size_t)(last - out);
    return VOILE_OK;
}

/* Whether a text stands here; it is then stepped over. */
static int is_next(const char **at, const char *expected)
{
    size_t n = length_of(expected);
    if (!same(*at, expected, n))
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

/* What a test asks of the end in C, from Python. */
#include "voile.h"
#include "voile_hash.h"

#include <string.h>

size_t shim_end(void) { return sizeof(voile_end); }
size_t shim_state(void) { return sizeof(voile_state); }
size_t shim_post(void) { return VOILE_POST; }
const char *shim_topic(const voile_end *end, int heard) { return heard ? end->hears : end->posts; }

/* Give a stored state another number, and its seal anew. */
void shim_renumber(voile_state *state, uint64_t number)
{
    uint8_t out[32];
    const uint8_t *sealed = (const uint8_t *)state + sizeof state->seal;
    state->number = number;
    voile_sha256(sealed, offsetof(voile_state, beside) + state->length - sizeof state->seal, out);
    memcpy(state->seal, out, sizeof state->seal);
}

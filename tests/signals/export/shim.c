/* What a test asks of the end in C, from Python. */
#include "voile.h"
#include "voile_hash.h"

size_t shim_end(void) { return sizeof(voile_end); }
size_t shim_state(void) { return sizeof(voile_state); }
size_t shim_post(void) { return VOILE_POST; }
const char *shim_topic(const voile_end *end, int heard) { return heard ? end->hears : end->posts; }

/* Encode and decode what a file holds: per reading its class, columns, known columns and draw. */
#include <stdio.h>
#include <string.h>

#include "voile.h"

int main(void)
{
    struct {
        double which, x[VOILE_COLUMNS + VOILE_KNOWN];
        uint8_t draw[VOILE_DRAW];
    } given;
    struct {
        double sent, z[VOILE_COLUMNS], read, x[VOILE_COLUMNS];
    } out;
    if (!voile_is_exact())
        return 1;
    while (fread(&given, sizeof given, 1, stdin) == 1) {
        memset(&out, 0, sizeof out);
        const double *known = given.x + VOILE_COLUMNS;
        out.sent = voile_encode((int)given.which, given.x, known, given.draw, out.z);
        out.read = out.sent ? -1 : voile_decode((int)given.which, out.z, known, out.x);
        fwrite(&out, sizeof out, 1, stdout);
    }
    return 0;
}

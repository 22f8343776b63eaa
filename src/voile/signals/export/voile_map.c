/* The map of voile.h: voile's own operations in voile's own order, and so the same bits. */
#include "voile.h"
#include "voile_bytes.h"

#include <float.h>

#if defined(__FAST_MATH__) || (defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD != 0)
#error "doubles must be computed as IEEE 754 says: no -ffast-math, no x87"
#endif

#define D VOILE_COLUMNS
#define LARGEST 4503599627370496.0       /* 2^52: doubles from here on are whole */
#define GRAINS 17592186044416.0          /* 2^44: what is sent is a multiple of 2^-44 */
#define MARGIN (1.0 / 1048576.0)         /* of a cell: see codec/lattice.py */
#define RANGE 8.0                        /* normal scores of a plausible reading */

static double magnitude(double v) { return v < 0 ? -v : v; }

static int is_number(double v) { return v - v == 0.0; }

/* The nearest whole number, halves to even. */
static double whole(double v)
{
    if (!(magnitude(v) < LARGEST))
        return v;
    return v < 0 ? (v - LARGEST) + LARGEST : (v + LARGEST) - LARGEST;
}

/* The piece of v among n knots: as many reads whatever v is. */
static int piece_of(const double *x, int n, double v)
{
    int at = 0, left = n - 2;
    while (left > 0) {
        int half = (left + 1) / 2;
        at += x[at + half] <= v ? half : 0;
        left -= half;
    }
    return at;
}

static double on_piece(const double *x, const double *y, int i, double v)
{
    return y[i] + (y[i + 1] - y[i]) / (x[i + 1] - x[i]) * (v - x[i]);
}

static double line(const double *x, const double *y, int n, double v)
{
    return on_piece(x, y, piece_of(x, n, v), v);
}

static void times(const double *matrix, double *v)
{
    double out[D];
    for (int j = 0; j < D; j++) {
        double total = 0.0;
        for (int i = 0; i < D; i++)
            total += matrix[j * D + i] * v[i];
        out[j] = total;
    }
    memcpy(v, out, sizeof out);
}

/* Each kind of step is a function of its place in the plan; back says whether it is undone. */
static void affine(const int32_t *plan, double *v, int back)
{
    const double *shift = voile_numbers + plan[2];
    if (back)
        for (int j = 0; j < D; j++)
            v[j] -= shift[j];
    times(voile_numbers + plan[back], v);
    if (!back)
        for (int j = 0; j < D; j++)
            v[j] += shift[j];
}

static void bend(const int32_t *plan, double *v, int back)
{
    for (int j = 0; j < D; j++) {
        const double *x = voile_numbers + plan[1 + 2 * j], *y = voile_numbers + plan[2 + 2 * j];
        v[j] = back ? line(y, x, plan[0], v[j]) : line(x, y, plan[0], v[j]);
    }
}

static void triangular(const int32_t *plan, double *v, int back)
{
    const int n = *plan++;
    const double *grid = voile_numbers + *plan++;
    const double *bent = grid + *plan++; /* means and spreads are flat beyond */
    const int m = *plan++;
    double z[D];
    int order[D];
    memcpy(z, v, sizeof z);
    for (int k = 0; k < D; k++) {
        const int j = order[k] = *plan++;
        const double *curve = voile_numbers + *plan++;
        double shift = 0.0, scale = 1.0;
        for (int before = 0; before < k; before++) {
            const double *mean = voile_numbers + *plan++, *spread = voile_numbers + *plan++;
            double held = z[order[before]];
            held = held < bent[0] ? bent[0] : held > bent[m - 1] ? bent[m - 1] : held;
            const int i = piece_of(bent, m, held);
            shift += on_piece(bent, mean, i, held);
            scale *= on_piece(bent, spread, i, held);
        }
        if (back)
            v[j] = line(curve, grid, n, z[j]) / scale + shift;
        else
            v[j] = z[j] = line(grid, curve, n, (v[j] - shift) * scale);
    }
}

typedef struct {
    int64_t left, share;
} level;

static int64_t floored(int64_t v, int64_t by)
{
    return v / by - (v % by < 0);
}

/* Add a table's sums at the levels: between two levels in proportion, rounded down. */
static void add_table(const int32_t *term, const level *at, int outputs, int64_t *total)
{
    const int a = term[0], b = term[1];
    const int64_t m = b < 0 ? 1 : voile_grids[b].nodes + 1;
    const int64_t wa = voile_grids[a].width, wb = b < 0 ? 1 : voile_grids[b].width;
    const level one = at[a], other = b < 0 ? (level){0, 0} : at[b];
    for (int o = 0; o < outputs; o++) {
        int64_t sum = 0;
        for (int i = 0; i <= (one.share > 0); i++)
            for (int j = 0; j <= (other.share > 0); j++) {
                const int64_t p = one.left + i, q = other.left + j;
                const int64_t weigh = (i ? one.share : wa - one.share)
                                      * (j ? other.share : wb - other.share);
                sum += voile_wholes[term[2] + (p * m + q) * outputs + o] * weigh;
            }
        total[o] += floored(sum, wa * wb);
    }
}

/* A power of 2: the exponent of a double. */
static double power_of_2(int64_t n)
{
    const uint64_t bits = (uint64_t)(n + 1023) << 52;
    double out;
    memcpy(&out, &bits, 8);
    return out;
}

/* The frame of side columns: see codec/conditional.py. */
static void conditional(const int32_t *plan, double *v, int back, const level *at)
{
    enum { OUTPUTS = 2 * D + D * (D - 1) / 2 };
    const int32_t *order = plan + 1, *rest = plan + 1 + D;
    const double share = voile_numbers[rest[0]], *matrix = voile_numbers + rest[1];
    const double *shift = voile_numbers + rest[2], *ladder = voile_numbers + rest[3];
    const int64_t *slopes;
    int64_t total[OUTPUTS] = {0};
    double given[D];
    for (int k = 0; k < rest[4]; k++)
        add_table(rest + 5 + 3 * k, at, OUTPUTS, total);
    memcpy(given, v, sizeof given);
    slopes = total + 2 * D;
    for (int k = 0; k < D; k++) {
        const int j = order[k];
        const int64_t octave = floored(total[D + j], 256);
        const double spread = ladder[total[D + j] - 256 * octave] * power_of_2(octave);
        const double diagonal = share * spread + matrix[j * D + j];
        double moved = share * ((double)total[j] * (1.0 / 16777216.0)) + shift[j];
        for (int i = 0; i < k; i++) {
            const double slope = share * ((double)*slopes++ * (1.0 / 16777216.0));
            /* turned, or undone, the columns before are those that are found already */
            moved += (slope + matrix[j * D + order[i]])
                     * (plan[0] != back ? v[order[i]] : given[order[i]]);
        }
        v[j] = plan[0] != back ? (given[j] - moved) / diagonal : moved + diagonal * given[j];
    }
}

/* Where known columns lie on their grids. */
static int levels_of(const double *known, level *at)
{
    at[VOILE_KNOWN] = (level){0, 0}; /* nobody's */
    for (int j = 0; j < VOILE_KNOWN; j++) {
        const voile_grid *grid = &voile_grids[j];
        const double last = (double)((grid->nodes - 1) * grid->width);
        if (known[j] != known[j]) {
            at[j] = (level){grid->nodes, 0};
            continue;
        }
        const double k = whole((known[j] * grid->per - grid->offset) / grid->step);
        const double off = (grid->offset + grid->step * k) / grid->per - known[j];
        if (!(magnitude(k) * grid->step + grid->step + grid->offset < LARGEST)
            || magnitude(off) > 1e-6 * (grid->step / grid->per))
            return VOILE_KNOWN_OFF;
        const double on = k - (double)grid->first;
        const int64_t held = (int64_t)(on < 0 ? 0 : on > last ? last : on);
        at[j] = (level){held / grid->width, held % grid->width};
    }
    return VOILE_OK;
}

static void step(int which, int k, double *v, int back, const level *at)
{
    const int32_t *plan = voile_plan[which] + voile_steps[k].at;
    switch (voile_steps[k].kind) {
    case 0: affine(plan, v, back); break;
    case 1: bend(plan, v, back); break;
    case 2: triangular(plan, v, back); break;
    default: conditional(plan, v, back, at); break;
    }
}

static void forward(int which, double *v, const level *at)
{
    for (int k = 0; k < VOILE_STEPS; k++)
        step(which, k, v, 0, at);
}

static void inverse(int which, double *v, const level *at)
{
    for (int k = VOILE_STEPS - 1; k >= 0; k--)
        step(which, k, v, 1, at);
}

/* Where a point lies on a column's lattice, in cells, and back. */
static double place_of(int j, double v)
{
    return (v * voile_lattice[j].per - voile_lattice[j].offset) / voile_lattice[j].step;
}

static double value_at(int j, double k)
{
    return (voile_lattice[j].offset + voile_lattice[j].step * k) / voile_lattice[j].per;
}

/* A point of a cell, from 53 of 64 bits. */
static double dither(const uint8_t *draw)
{
    return ((double)(little(draw) >> 11) * (1.0 / 9007199254740992.0) - 0.5) * (1.0 - 2.0 * MARGIN);
}

int voile_is_exact(void)
{
    volatile double near = 1.0 + 1.0 / 1073741824.0, twice = 1.0 + 1.0 / 536870912.0;
    return near * near - twice == 0.0; /* fused, 2^-60 is left */
}

void voile_nearest(const double *x, double *near)
{
    for (int j = 0; j < D; j++)
        near[j] = value_at(j, whole(place_of(j, x[j])));
}

int voile_encode(int which, const double *x, const double *known, const uint8_t *draw, double *z)
{
    double k[D], v[D], sent[D];
    level at[VOILE_KNOWN + 1];
    if (which < 0 || which >= VOILE_CLASSES)
        return VOILE_NO_CLASS;
    if (levels_of(known, at) != VOILE_OK)
        return VOILE_KNOWN_OFF;
    for (int j = 0; j < D; j++) {
        const double cell = voile_lattice[j].step / voile_lattice[j].per;
        if (!is_number(x[j]))
            return VOILE_MISSING;
        k[j] = whole(place_of(j, x[j]));
        if (!(magnitude(k[j]) * voile_lattice[j].step + voile_lattice[j].step
                  + voile_lattice[j].offset < LARGEST)
            || magnitude(value_at(j, k[j]) - x[j]) > 1e-6 * cell)
            return VOILE_OFF;
        v[j] = value_at(j, k[j] + dither(draw + 8 * j));
    }
    forward(which, v, at);
    for (int j = 0; j < D; j++) {
        v[j] = whole(v[j] * GRAINS) / GRAINS + 0.0; /* no -0.0 */
        if (!(magnitude(v[j]) <= LARGEST))
            return VOILE_FAR;
    }
    memcpy(sent, v, sizeof v);
    inverse(which, v, at);
    for (int j = 0; j < D; j++)
        if (!(magnitude(place_of(j, v[j]) - k[j]) < 0.5 - MARGIN / 2))
            return VOILE_FAR;
    memcpy(z, sent, sizeof sent);
    return VOILE_OK;
}

int voile_decode(int which, const double *z, const double *known, double *x)
{
    double v[D], score[D];
    level at[VOILE_KNOWN + 1];
    if (which < 0 || which >= VOILE_CLASSES)
        return VOILE_NO_CLASS;
    if (levels_of(known, at) != VOILE_OK)
        return VOILE_KNOWN_OFF;
    for (int j = 0; j < D; j++)
        if (!is_number(z[j]))
            return VOILE_MISSING;
    memcpy(v, z, sizeof v);
    inverse(which, v, at);
    voile_nearest(v, v);
    memcpy(score, v, sizeof v);
    forward(which, score, at);
    for (int j = 0; j < D; j++)
        if (!(magnitude(score[j]) <= RANGE))
            return VOILE_IMPLAUSIBLE;
    memcpy(x, v, sizeof v);
    return VOILE_OK;
}

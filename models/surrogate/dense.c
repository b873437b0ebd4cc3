/* Products in packed tiles, as Goto and van de Geijn 2008 describe them, and what follows from products. */
#include "models/surrogate/dense.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Rows of a tile, and its columns: the sums fit the vector registers of any x86-64, or of one with AVX2. The
 * width changes no bit of a sum, because each is added up by itself and without fused operations. */
#define TILE   4
#define NARROW 4
#define WIDE   8

/* A sanitizer that looks at every load of a product takes ten times as long: it looks at each row once,
 * before.
 */
#define UNWATCHED __attribute__((no_sanitize("address", "undefined")))
#define ALWAYS    UNWATCHED static inline __attribute__((always_inline))

/* Rows and inner length of a packed part of a: in the second-level cache beside a strip of b in the first. */
#define PACK_ROWS  32
#define PACK_INNER 256

/* Rows solved or factorised together, before the rest follows by a product. */
#define BLOCK 16

/* Two and four doubles, added and multiplied side by side. */
typedef double pair __attribute__((vector_size(16)));
typedef double quad __attribute__((vector_size(32)));

#ifdef __SANITIZE_ADDRESS__
void *__asan_region_is_poisoned(void *begin, size_t size); /* of the sanitizer */

/* The sanitizer reports the read of what is not to be read. */
static void look_at_row(const double *row, size_t columns)
{
    const volatile char *bad = __asan_region_is_poisoned((void *)(uintptr_t)row, columns * sizeof(*row));

    if (bad)
        (void)*bad;
}
#else
static void look_at_row(const double *row, size_t columns)
{
    (void)row;
    (void)columns;
}
#endif

static void look_at_rows(const double *rows, size_t stride, size_t n, size_t columns)
{
    for (size_t i = 0; i < n; i++)
        look_at_row(rows + i * stride, columns);
}

struct part {
    double sign;
    size_t rows, columns, inner, c_stride;
    int upper; /* store only what is on or above the diagonal */
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static pair load_pair(const double *from)
{
    pair loaded;

    memcpy(&loaded, from, sizeof(loaded));
    return loaded;
}

/* The first columns of inner rows, one row after the other, filled up with zeros to `room` columns. */
ALWAYS void pack_strip(const double *from, size_t stride, size_t inner, size_t columns, size_t room,
                       double *ret_strip)
{
    if (columns < room)
        memset(ret_strip, 0, inner * room * sizeof(*ret_strip));
    for (size_t k = 0; k < inner; k++, from += stride, ret_strip += room) {
        /* A whole row, whose length the compiler knows, is a few moves. */
        if (columns == room)
            memcpy(ret_strip, from, room * sizeof(*from));
        else
            memcpy(ret_strip, from, columns * sizeof(*from));
    }
}

ALWAYS void multiply_tile(const double *a, const double *b, size_t inner, size_t width, double *ret_tile)
{
    quad sums[TILE][WIDE / 4] = {{{0.0}}};

    for (size_t k = 0; k < inner; k++, a += TILE, b += width) {
#pragma GCC unroll 4 /* a loop would keep the sums in memory */
        for (size_t i = 0; i < TILE; i++) {
            quad factor = {a[i], a[i], a[i], a[i]}, right;

#pragma GCC unroll 2
            for (size_t j = 0; j < width / 4; j++) {
                memcpy(&right, b + 4 * j, sizeof(right));
                sums[i][j] += factor * right;
            }
        }
    }
    for (size_t i = 0; i < TILE; i++)
        memcpy(ret_tile + i * width, sums[i], width * sizeof(*ret_tile));
}

/* c is that of the part's first row and column, the tile's place is (row, column) in it. */
ALWAYS void add_tile(const struct part *part, const double *tile, size_t width, size_t row, size_t column,
                     double *c)
{
    size_t rows = smaller(TILE, part->rows - row), columns = smaller(width, part->columns - column);

    c += row * part->c_stride + column;
    for (size_t i = 0; i < rows; i++, c += part->c_stride, tile += width) {
        size_t first = part->upper && row + i > column ? row + i - column : 0;

        if (first == 0 && columns == width)
            for (size_t j = 0; j < width; j++)
                c[j] += part->sign * tile[j];
        else
            for (size_t j = first; j < columns; j++)
                c[j] += part->sign * tile[j];
    }
}

ALWAYS void multiply(const struct part *part, size_t width, const double *a, size_t a_stride, const double *b,
                     size_t b_stride, double *c)
{
    double packed[PACK_ROWS * PACK_INNER], strip[WIDE * PACK_INNER], tile[TILE * WIDE];

    for (size_t row = 0; row < part->rows; row += TILE)
        pack_strip(a + row, a_stride, part->inner, smaller(TILE, part->rows - row), TILE,
                   packed + row * part->inner);
    for (size_t column = 0; column < part->columns; column += width) {
        pack_strip(b + column, b_stride, part->inner, smaller(width, part->columns - column), width, strip);
        for (size_t row = 0; row < part->rows && (!part->upper || row < column + width); row += TILE) {
            multiply_tile(packed + row * part->inner, strip, part->inner, width, tile);
            add_tile(part, tile, width, row, column, c);
        }
    }
}

#ifdef __x86_64__
UNWATCHED __attribute__((target("avx2"))) static void multiply_wide(const struct part *part, const double *a,
                                                                    size_t a_stride, const double *b,
                                                                    size_t b_stride, double *c)
{
    multiply(part, WIDE, a, a_stride, b, b_stride, c);
}
#endif

UNWATCHED static void multiply_part(const struct part *part, const double *a, size_t a_stride,
                                    const double *b, size_t b_stride, double *c)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) {
        multiply_wide(part, a, a_stride, b, b_stride, c);
        return;
    }
#endif
    multiply(part, NARROW, a, a_stride, b, b_stride, c);
}

void dense_add_product(double sign, size_t rows, size_t columns, size_t inner, const double *a,
                       size_t a_stride, const double *b, size_t b_stride, double *c, size_t c_stride)
{
    look_at_rows(a, a_stride, inner, rows);
    look_at_rows(b, b_stride, inner, columns);
    look_at_rows(c, c_stride, rows, columns);
    for (size_t k = 0; k < inner; k += PACK_INNER)
        for (size_t row = 0; row < rows; row += PACK_ROWS) {
            struct part part = {.sign = sign,
                                .rows = smaller(PACK_ROWS, rows - row),
                                .columns = columns,
                                .inner = smaller(PACK_INNER, inner - k),
                                .c_stride = c_stride};

            multiply_part(&part, a + k * a_stride + row, a_stride, b + k * b_stride, b_stride,
                          c + row * c_stride);
        }
}

void dense_add_gram(double sign, size_t n, size_t inner, const double *a, size_t a_stride, double *c,
                    size_t c_stride)
{
    look_at_rows(a, a_stride, inner, n);
    for (size_t i = 0; i < n; i++)
        look_at_row(c + i * c_stride + i, n - i);
    for (size_t k = 0; k < inner; k += PACK_INNER)
        for (size_t row = 0; row < n; row += PACK_ROWS) {
            const double *from = a + k * a_stride + row;
            struct part part = {.sign = sign,
                                .rows = smaller(PACK_ROWS, n - row),
                                .columns = n - row,
                                .inner = smaller(PACK_INNER, inner - k),
                                .c_stride = c_stride,
                                .upper = 1};

            multiply_part(&part, from, a_stride, from, a_stride, c + row * c_stride + row);
        }
}

/* to -= factor * from */
static void take_off(double factor, const double *from, size_t n, double *to)
{
    const pair factors = {factor, factor};
    size_t j = 0;

    for (; j + 2 <= n; j += 2) {
        pair left = load_pair(to + j) - factors * load_pair(from + j);

        memcpy(to + j, &left, sizeof(left));
    }
    if (j < n)
        to[j] -= factor * from[j];
}

static void scale(double factor, size_t n, double *to)
{
    for (size_t j = 0; j < n; j++)
        to[j] *= factor;
}

/* Rows first..last-1 of U, from their diagonals to the end, of what earlier blocks have been taken off. */
static int factorise_rows(double *u, size_t n, size_t stride, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++) {
        double *row = u + i * stride;

        for (size_t k = first; k < i; k++)
            take_off(u[k * stride + i], u + k * stride + i, n - i, row + i);
        if (!(row[i] > 0.0) || !isfinite(row[i]))
            return -EDOM;
        scale(1.0 / sqrt(row[i]), n - i, row + i);
    }
    return 0;
}

int dense_factorise(double *u, size_t n, size_t stride)
{
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t last = smaller(n, first + BLOCK);
        int result = factorise_rows(u, n, stride, first, last);

        if (result)
            return result;
        dense_add_gram(-1.0, n - last, last - first, u + first * stride + last, stride,
                       u + last * stride + last, stride);
    }
    return 0;
}

static void solve_block(const double *u, size_t u_stride, size_t first, size_t last, double *x,
                        size_t columns, size_t x_stride)
{
    for (size_t i = first; i < last; i++) {
        for (size_t k = first; k < i; k++)
            take_off(u[k * u_stride + i], x + k * x_stride, columns, x + i * x_stride);
        scale(1.0 / u[i * u_stride + i], columns, x + i * x_stride);
    }
}

void dense_solve_rows(const double *u, size_t u_stride, size_t first, size_t last, double *x, size_t columns,
                      size_t x_stride)
{
    for (size_t i = first; i < last; i += BLOCK) {
        size_t end = smaller(last, i + BLOCK);

        dense_add_product(-1.0, end - i, columns, i, u + i, u_stride, x, x_stride, x + i * x_stride,
                          x_stride);
        solve_block(u, u_stride, i, end, x, columns, x_stride);
    }
}

void dense_solve_vector(const double *u, size_t n, size_t stride, double *vector)
{
    for (size_t i = 0; i < n; i++) {
        const double *row = u + i * stride;

        vector[i] /= row[i];
        take_off(vector[i], row + i + 1, n - i - 1, vector + i + 1);
    }
    for (size_t i = n; i-- > 0;) {
        const double *row = u + i * stride;

        for (size_t j = i + 1; j < n; j++)
            vector[i] -= row[j] * vector[j];
        vector[i] /= row[i];
    }
}

/* The inverse is W' W with W the inverse of U', which is lower triangular: a block of its rows ends at its
 * diagonal. */
void dense_invert(const double *u, size_t n, size_t stride, double *scratch, double *ret_inverse)
{
    memset(scratch, 0, n * n * sizeof(*scratch));
    for (size_t i = 0; i < n; i++) {
        scratch[i * n + i] = 1.0;
        memset(ret_inverse + i * n + i, 0, (n - i) * sizeof(*ret_inverse));
    }
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t last = smaller(n, first + BLOCK);

        dense_solve_rows(u, stride, first, last, scratch, last, n);
        dense_add_gram(1.0, last, last - first, scratch + first * n, n, ret_inverse, n);
    }
}

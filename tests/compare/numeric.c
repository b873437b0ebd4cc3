/* A small numeric program, whose compiler flags tests/compare/programs tunes: it prints one number.
 *
 * usage: numeric ROUNDS
 *
 * Its four parts ask for different flags: a sum may be taken in any order, a stencil divides, a product of
 * matrices has a loop of few steps, and a hash has none that vectors would help. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define LENGTH 8192
#define SIDE   64
#define EDGE   24
#define HASHED 12000

static float left[LENGTH], right[LENGTH];
static double plate[SIDE][SIDE], next_plate[SIDE][SIDE];
static double a[EDGE][EDGE], b[EDGE][EDGE], c[EDGE][EDGE];

static void fill(void)
{
    for (int i = 0; i < LENGTH; i++) {
        left[i] = (float)(i % 17) / 17;
        right[i] = (float)(i % 23) / 23;
    }
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            plate[i][j] = (double)(i * j % 7);
    for (int i = 0; i < EDGE; i++)
        for (int j = 0; j < EDGE; j++) {
            a[i][j] = (double)(i + j) / EDGE;
            b[i][j] = (double)(i - j) / EDGE;
        }
}

static float sum_of_products(void)
{
    float sum = 0;
    for (int i = 0; i < LENGTH; i++)
        sum += left[i] * right[i];
    return sum;
}

static double spread_heat(void)
{
    for (int i = 1; i < SIDE - 1; i++)
        for (int j = 1; j < SIDE - 1; j++)
            next_plate[i][j] = (plate[i - 1][j] + plate[i + 1][j] + plate[i][j - 1] + plate[i][j + 1]) / 4.1;
    for (int i = 1; i < SIDE - 1; i++)
        for (int j = 1; j < SIDE - 1; j++)
            plate[i][j] = next_plate[i][j] + 0.01;
    return plate[SIDE / 2][SIDE / 2];
}

static double multiply(void)
{
    for (int i = 0; i < EDGE; i++)
        for (int j = 0; j < EDGE; j++) {
            double sum = 0;
            for (int k = 0; k < EDGE; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
    a[0][0] = c[1][1] / (1 + c[1][1] * c[1][1]);
    return c[EDGE / 2][EDGE / 3];
}

static uint32_t hash(uint32_t seed)
{
    for (uint32_t i = 0; i < HASHED; i++) {
        seed ^= i & 255;
        seed = (seed & 1) != 0 ? (seed >> 1) ^ 0xedb88320U : seed >> 1;
    }
    return seed;
}

int main(int argc, char **argv)
{
    const long rounds = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
    double total = 0;
    uint32_t seed = 1;
    if (rounds < 1) {
        fputs("usage: numeric ROUNDS\n", stderr);
        return 2;
    }
    fill();
    for (long i = 0; i < rounds; i++) {
        left[i % LENGTH] = 0.5F;
        total += (double)sum_of_products() + spread_heat() + multiply();
        seed = hash(seed);
    }
    printf("%.3f %u\n", total, (unsigned)seed);
    return 0;
}

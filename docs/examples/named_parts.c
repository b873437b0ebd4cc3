/* A program that tells `fstune profile` which part of it runs, and what is not to be recorded: it fills a
 * file, checks it, and looks rows up in it.
 *
 *     cc named_parts.c -o named_parts          # fstune/profile.h needs no library
 *     fstune profile -- ./named_parts FILE
 *
 * Alone it does the same. */
#include <fstune/profile.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ROW_BYTES 512
#define N_ROWS    2000

static char row[ROW_BYTES];

static int fill(int file)
{
    for (int i = 0; i < N_ROWS; i++) {
        row[0] = (char)i;
        if (write(file, row, ROW_BYTES) != ROW_BYTES)
            return -1;
    }
    return fsync(file);
}

static int look_up(int file, int i)
{
    return pread(file, row, ROW_BYTES, (off_t)i * ROW_BYTES) == ROW_BYTES && row[0] == (char)i ? 0 : -1;
}

/* Each row, one after the other. */
static int check(int file)
{
    int code = 0;
    for (int i = 0; i < N_ROWS && code == 0; i++)
        code = look_up(file, i);
    return code;
}

/* The questions of two customers in turn: what a name means comes again, and is added up. */
static int answer(int file)
{
    int code = 0;
    for (int round = 0; round < 10 && code == 0; round++) {
        fst_profile_mark(round % 2 == 0 ? "first customer" : "second customer");
        for (int i = 0; i < 100 && code == 0; i++)
            code = look_up(file, rand() % N_ROWS);
    }
    return code;
}

int main(int argc, char **argv)
{
    int file = argc == 2 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
    if (file < 0) {
        fprintf(stderr, "usage: named_parts FILE, which is made anew\n");
        return 2;
    }
    fst_profile_mark("fill");
    int code = fill(file);
    /* The check is for the developer; a profile of it would be in the way. */
    fst_profile_stop();
    if (code == 0)
        code = check(file);
    fst_profile_start();
    if (code == 0)
        code = answer(file);
    printf("%s%s\n", code == 0 ? "all rows are there" : "a row is missing",
           fst_profile_is_recording() ? ", and recorded" : "");
    close(file);
    return code == 0 ? 0 : 1;
}

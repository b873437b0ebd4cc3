/* tests/bench/io/deny: makes one system call fail in this process for good (seccomp), so that a fallback can
 * be seen to work. Use it in a forked child only. */
#pragma once

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>

#ifndef __NR_cachestat
#define __NR_cachestat 451
#endif

/* Calls of `number` whose third argument has a bit of `third_mask` fail with `code`; a mask of 0: every call.
 * 0 or -errno. */
static inline int deny(long number, uint32_t third_mask, int code)
{
    const uint32_t low_word = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 4;
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, args[2]) + low_word),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, third_mask, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ((uint32_t)code & SECCOMP_RET_DATA)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    if (third_mask == 0) /* nothing to ask for: fall through to the refusal */
        program[3] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JA, 0, 0, 0);
    struct sock_fprog filter = {.len = sizeof(program) / sizeof(program[0]), .filter = program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        return -errno;
    return 0;
}

/* bench/host/interrupts: the processors that the requests of a disk end on. A program that runs there is told
 * sooner than one elsewhere. */
#pragma once

#include "bench/host/hostinfo.h"

#include <sched.h>
#include <stdbool.h>

/* Of a disk that has one queue: the processors that the interrupt goes to which came most often. 0; -ENOENT
 * where it has several queues or is no disk on a PCI bus (a loop, LVM), none has come yet, or the kernel does
 * not tell. */
int interrupts_find(const struct hostinfo_device *device, cpu_set_t *ret_processors);

/* "0-3,5". False: it is no such list, and *ret_processors is empty. */
bool interrupts_parse_list(const char *list, cpu_set_t *ret_processors);

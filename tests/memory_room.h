/* tests/memory_room: how much memory there is, as a test wants it. The program that includes it is linked
 * with --wrap=hostinfo_find_memory_room. */
#pragma once

#include "bench/host/hostinfo.h"
#include "tests/test.h"

static double room_bytes; /* of a memory cgroup of version 1; 0: the machine's */

WRAP(void, hostinfo_find_memory_room, (struct hostinfo_memory_room * ret_room))
{
    __real_hostinfo_find_memory_room(ret_room);
    if (room_bytes > 0)
        ret_room->bytes = ret_room->v1_bytes = room_bytes;
}

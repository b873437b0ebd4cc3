/* tuner/search/link: messages between the clients of a command. Made of MPI in link_mpi.c, which is part of
 * fstune-mpi alone.
 *
 * Messages are structures of one build, sent as they are: clients compare their versions first. One thread of
 * a process is in here at a time. Waiting neither keeps a processor busy nor lasts for ever. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* 0, or -ETIME: the other one did not take it until then, or at once after a signal. */
int link_send(uint32_t to, int kind, const void *data, size_t size_bytes, uint64_t until_ns);

/* The next message of this kind from that one. 0; -ETIME: none came until then, or for grace_ns since the
 * program was asked to end (tuner/base/interrupt); -EPROTO: it has another size. */
int link_receive(uint32_t from, int kind, void *data, size_t size_bytes, uint64_t until_ns,
                 uint64_t grace_ns);

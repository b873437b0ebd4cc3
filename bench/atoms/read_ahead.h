/* bench/atoms/read_ahead: how far the kernel reads ahead of a program that reads in order. */
#pragma once

#include <stdint.h>

/* On the file system of fd; the kernel's usual 128 KiB where it does not tell. */
uint64_t read_ahead_bytes(int fd);

/* tuner/store/sql_address: how a server's address is to be used. */
#pragma once

#include "bench/base/err.h"
#include "tuner/store/libpq.h"

#define SQL_ADDRESS_MOST 8

/* For PQconnectdbParams with expand_dbname: the address, and what it leaves open; ended by NULL. */
struct sql_address {
    const char *keywords[SQL_ADDRESS_MOST], *values[SQL_ADDRESS_MOST];
    int silence_ms; /* its tcp_user_timeout: how long nothing may move before one asks what is the matter */
};

/* The values are borrowed from the address. -EINVAL: it is no address, or a password stands in it. */
int sql_address_read(const struct libpq *pq, const char *address, struct sql_address *ret_address,
                     struct err *err);

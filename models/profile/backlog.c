/* models/profile/backlog: a ring of batches. */
#include "models/profile/backlog.h"

#include <errno.h>
#include <string.h>

size_t backlog_room(const struct backlog *backlog)
{
    return BACKLOG_BATCHES - (size_t)(backlog->next - backlog->first);
}

void backlog_put(struct backlog *backlog, const struct batch_writer *writer)
{
    bool goes_back = backlog->again < backlog->next;
    memcpy(backlog->slots[backlog->next % BACKLOG_BATCHES].bytes, writer->bytes, writer->n);
    backlog->slots[backlog->next % BACKLOG_BATCHES].n = writer->n;
    backlog->next++;
    if (!goes_back)
        backlog->again = backlog->next;
}

const uint8_t *backlog_pending(const struct backlog *backlog, size_t *ret_n)
{
    if (backlog->sending == backlog->next)
        return NULL;
    *ret_n = backlog->slots[backlog->sending % BACKLOG_BATCHES].n - backlog->n_sent;
    return backlog->slots[backlog->sending % BACKLOG_BATCHES].bytes + backlog->n_sent;
}

void backlog_sent(struct backlog *backlog, size_t n)
{
    backlog->n_sent += n;
    if (backlog->n_sent < backlog->slots[backlog->sending % BACKLOG_BATCHES].n)
        return;
    backlog->sending++;
    backlog->n_sent = 0;
    if (backlog->again < backlog->sending)
        backlog->sending = backlog->again;
    backlog->again = backlog->next;
}

/* One that is on its way stays until it has gone. */
void backlog_release(struct backlog *backlog, uint64_t number)
{
    uint64_t most = backlog->n_sent > 0 ? backlog->sending : backlog->next;
    if (number > most)
        number = most;
    if (number <= backlog->first)
        return;
    backlog->first = number;
    if (backlog->sending < number)
        backlog->sending = number;
    if (backlog->again < number)
        backlog->again = number;
}

int backlog_go_back(struct backlog *backlog, uint64_t number, bool is_new_link)
{
    if (number < backlog->first || number > backlog->next)
        return -EINVAL;
    backlog->again = backlog->next;
    if (!is_new_link && backlog->n_sent > 0) {
        backlog->again = number;
        return 0;
    }
    backlog->sending = number;
    backlog->n_sent = 0;
    return 0;
}

"""What must agree between the lines, QEMU and the guest. Pure: facts in, complaints out, so that the self-test can hand in wrong ones.

Facts of one boot:
  asked   what the answer says: bus, direct (bool), aio, write_cache ("write back" or "write through"), limits {name: what the guest must
          see}, queue (entries in the lines, None where the bus has no such option), queue_least (what the answer needs)
  flags   open flags of the image's descriptors in QEMU
  queue   what QEMU says that the queue holds, None where it has none
  stats   QEMU's counters of the disk
  io      /proc/PID/io of QEMU
  calls   {system call: times} on the image, None without strace
  limits  {name: value} from the guest's /sys/block
  sums    {name: (checksum where the file was written, where it was read)}: one file from each side
  moved   bytes that all fstune in the guest counted: {"written", "read"}
  measure the document of `fstune measure` in the guest, None where none came
"""
import os

FILE_BYTES = 128 << 20  # the guest's file, every block of which is written at least once
PLAIN_CALLS = ('pread64', 'pwrite64', 'preadv', 'pwritev')
PROBES_SHARE = 0.1  # of the requests: what QEMU reads with plain calls when it opens an image


def open_flags(facts):
    if not facts['flags']:
        return 'QEMU has no descriptor of the image'
    wanted = facts['asked']['direct']
    wrong = [f'0{flags:o}' for flags in facts['flags'] if bool(flags & os.O_DIRECT) != wanted]
    return f'flags {" ".join(wrong)}, O_DIRECT is {"missing" if wanted else "set"}' if wrong else ''


def queue_size(facts):
    wanted, least = facts['asked']['queue'], facts['asked']['queue_least']
    if wanted is not None and (facts['queue'] != wanted or wanted < least):
        return f'the lines say {wanted}, QEMU {facts["queue"]}, the answer needs {least}'
    wrong = [f'{name} {facts["limits"].get(name)}, not {value}' for name, value in facts['asked']['limits'].items()
             if facts['limits'].get(name) != str(value)]
    return f'the guest sees {", ".join(wrong)}' if wrong else ''


def cache_mode(facts):
    seen, wanted = facts['limits'].get('write_cache'), facts['asked']['write_cache']
    return '' if seen == wanted else f'the guest sees "{seen}", not "{wanted}"'


def measurement(facts):
    document = facts['measure']
    if document is None:
        return 'no document came out of the guest'
    if document.get('schema') != 'fstune/measurement/1' or not document['throughput']['mean'] or document['interrupted']:
        return 'the document is no complete measurement'
    if document['row']['direct'] != 1 or document['row']['api'] != 'io_uring' or document['row']['replays'] != 3:
        return 'it is another measurement than the one asked for'
    return '' if document['bytes_written'] > FILE_BYTES and document['bytes_read'] > 0 else 'the guest moved no bytes'


def contents_arrive(facts):
    wrong = [name for name, (written, read) in facts['sums'].items() if not written or written != read]
    return f'not as it was written: {", ".join(wrong)}' if wrong or not facts['sums'] else ''


def bytes_arrive(facts):
    for name, arrived in (('written', facts['stats']['wr_bytes']), ('read', facts['stats']['rd_bytes'])):
        if not 0 < facts['moved'][name] <= arrived:
            return f'the guest has {name} {facts["moved"][name]} bytes, {arrived} arrived'
    return ''


def bytes_reach_disk(facts):
    """Past the page cache each byte is the disk's; through it, the blocks written are, once at least."""
    least = {'write_bytes': FILE_BYTES, 'read_bytes': 0}
    if facts['asked']['direct']:
        least = {'write_bytes': facts['moved']['written'], 'read_bytes': facts['moved']['read']}
    seen = facts['io']
    return ', '.join(f'{name} is {seen[name]}, less than {value}' for name, value in least.items() if seen[name] < value)


def flushes_arrive(facts):
    """Counted by QEMU, and where strace sees them (not inside io_uring) as calls: some, not one a write. A disk without a volatile cache
    gets none from the guest, and QEMU itself flushes behind each write. QEMU's nvme counts none, and the guest always sees a cache there."""
    stats, calls, asked = facts['stats'], facts['calls'], facts['asked']
    behind_each = asked['write_cache'] == 'write through'
    if not behind_each and asked['bus'] != 'nvme' and stats['flush_operations'] == 0:
        return 'QEMU has seen no flush'
    if calls is None or asked['aio'] == 'io_uring':
        return ''
    flushed, share = calls['fdatasync'] + calls['fsync'], stats['wr_operations'] // 4
    return '' if flushed > 0 and (flushed > share) == behind_each else f'{flushed} fdatasync for {stats["wr_operations"]} writes'


def needs_calls(check, facts):
    """Whether the check says nothing without strace's counts."""
    asked = facts['asked']
    return check is engine_in_use or (check is flushes_arrive and (asked['bus'] == 'nvme' or asked['write_cache'] == 'write through'))


def engine_in_use(facts):
    """QEMU's main loop may use io_uring for itself: so the other engines' calls must be absent, too."""
    calls, stats, aio = facts['calls'], facts['stats'], facts['asked']['aio']
    if calls is None:
        return ''
    requests = stats['rd_operations'] + stats['wr_operations'] - stats['rd_merged'] - stats['wr_merged']
    plain = sum(calls[name] for name in PLAIN_CALLS)
    if aio == 'threads':
        return '' if plain >= requests and calls['io_submit'] == 0 else f'{plain} plain calls for {requests} requests'
    if plain > PROBES_SHARE * requests:
        return f'{plain} plain calls for {requests} requests'
    mine, other = ('io_uring_enter', 'io_submit') if aio == 'io_uring' else ('io_submit', None)
    if calls[mine] == 0 or (other and calls[other] > 0):
        return f'{calls[mine]} {mine}' + (f', {calls[other]} {other}' if other else '')
    return ''


CHECKS = {
    'the image is opened as asked': open_flags,
    'the queue is the one of the lines': queue_size,
    'the cache mode is the one asked for': cache_mode,
    'the guest measures': measurement,
    'contents arrive': contents_arrive,
    "the guest's bytes arrive": bytes_arrive,
    'they reach the disk': bytes_reach_disk,
    'flushes arrive': flushes_arrive,
    'the engine is in use': engine_in_use,
}


def flip_direct(facts):
    facts['flags'] = [flags ^ os.O_DIRECT for flags in facts['flags']]


def one_engine_for_all(facts):
    aio, calls = facts['asked']['aio'], facts['calls']
    requests = facts['stats']['rd_operations'] + facts['stats']['wr_operations']
    calls.update(dict.fromkeys(PLAIN_CALLS, 0) if aio == 'threads' else {'pread64': requests})


def no_flush(facts):
    facts['stats']['flush_operations'] = facts['calls']['fdatasync'] = facts['calls']['fsync'] = 0


# What each check must notice: a change of the facts of a boot that passed. They are facts of a boot with strace's counts.
WRONGS = {
    'the image is opened as asked': [flip_direct, lambda facts: facts['flags'].clear()],
    'the queue is the one of the lines': [lambda facts: facts.update(queue=128), lambda facts: facts['asked'].update(queue_least=2048),
                                          lambda facts: facts['limits'].clear()],
    'the cache mode is the one asked for': [lambda facts: facts['limits'].update(write_cache='write something')],
    'the guest measures': [lambda facts: facts.update(measure=None), lambda facts: facts['measure'].update(bytes_read=0)],
    'contents arrive': [lambda facts: facts['sums'].update(from_guest=('1', '2')), lambda facts: facts['sums'].clear()],
    "the guest's bytes arrive": [lambda facts: facts['stats'].update(wr_bytes=4096), lambda facts: facts['stats'].update(rd_bytes=0)],
    'they reach the disk': [lambda facts: facts['io'].update(write_bytes=0)],
    'flushes arrive': [no_flush, lambda facts: facts['asked'].update(aio='threads', write_cache='write through')],
    'the engine is in use': [one_engine_for_all],
}

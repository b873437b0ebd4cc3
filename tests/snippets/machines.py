"""What the checks of virtual machines' snippets share: settings, nasty paths, and readers of the consumers' grammars.

A reader takes a snippet's text and what stands beside it, and returns what the consumer would understand as a dict:
path, direct and what else is worth comparing. It raises Refused where the consumer would refuse the text, or where the
text would cost durability."""
import itertools
import json
import os
import re
import subprocess
import sys
import traceback

import answers

APIS = {'psync': 1, 'pvec': 4, 'pool': 8, 'libaio': 8, 'io_uring': 8}  # each with a depth that is legal
NASTY = ['/vm/plain.img', '/vm/with space.img', '/vm/com,ma.img', '/vm/col:on.img', "/vm/quo'te.img", '/vm/dou"ble.img', '/vm/new\nline.img',
         '/vm/less<&more>.img', '/vm/per%cent%(x).img', '/vm/eq=ual.img', '/vm/bra[ck]et.img', '/vm/back\\slash.img', '/vm/$(touch hacked)`id`;x.img',
         '/vm/hash # x.img', '/vm/ümlaut.img', '/vm/ends ', 'relative.img', '/vm/tab\tx.img', '/vm/-->x.img', '/vm/com,ma"and\\all\'[x].img']


class Refused(Exception):
    """The consumer would not take it."""


def need(condition, *words):
    """Refused, unless the condition holds."""
    if not condition:
        raise Refused(' '.join(str(word) for word in words))


def settings():
    """Every api with each of direct, sync and --directsync: (keywords of an answer, options)."""
    for api, direct, sync, directsync in itertools.product(APIS, (0, 1), ('none', 'end', 'each'), (False, True)):
        yield {'api': api, 'queue_depth': APIS[api], 'direct': direct, 'sync': sync}, ['--directsync'] if directsync else []


def code_lines(text):
    """The lines that are no comments."""
    return [line for line in text.splitlines() if line.strip() and not line.startswith('#')]


def shell_words(line):
    """The words of a line as a real shell splits them."""
    done = subprocess.run(['sh', '-eu', '-c', "printf '%s\\0' " + line], capture_output=True, check=False, cwd=os.environ['SCRATCH'])
    need(done.returncode == 0 and not done.stderr, 'the shell does not take it:', line)
    return os.fsdecode(done.stdout).split('\0')[:-1]


def one_option(text, name):
    """The value of the only option, through a shell."""
    lines = code_lines(text)
    need(len(lines) == 1, 'not one line:', lines)
    words = shell_words(lines[0])
    need(len(words) == 2 and words[0] == name, 'not one option:', words)
    return words[1]


def fields(pairs, allowed):
    """A dict of (key, value) pairs; refuses keys that are unknown or stand twice, and values that do not match."""
    found = {}
    for key, value in pairs:
        need(key in allowed, 'unknown key', key)
        need(key not in found, 'twice:', key)
        need(re.fullmatch(allowed[key], value, re.DOTALL), 'bad value of', key, value)
        found[key] = value
    return found


def power_of_two(number, least, most):
    """Whether a queue may have this size."""
    return least <= number <= most and number & (number - 1) == 0


def read_cloud_hypervisor(text, _beside):
    """Commas split outside of quotes and brackets; quotes vanish; blanks around a value vanish."""
    parts, depth, quoted = [''], 0, False
    for char in one_option(text, '--disk').strip():
        if char == '"':
            quoted = not quoted
            continue
        depth += (char == '[') - (char == ']')
        need(depth >= 0, 'a bracket closes that was not opened')
        if char == ',' and depth == 0 and not quoted:
            parts.append('')
        else:
            parts[-1] += char
    need(depth == 0 and not quoted, 'brackets or quotes stay open')
    need(all('=' in part for part in parts), 'a key without a value:', parts)
    disk = fields([part.split('=', 1) for part in parts],
                  {'path': '.+', 'image_type': 'raw|qcow2', 'direct': 'on|off', 'num_queues': '[1-9][0-9]*', 'queue_size': '[1-9][0-9]*'})
    need(power_of_two(int(disk['queue_size']), 256, 1024), 'queue size', disk['queue_size'])
    return {'path': disk['path'].strip(), 'direct': disk['direct'] == 'on', 'queues': int(disk['num_queues']), 'type': disk.get('image_type')}


STRING = r'"(?:[^"\\]|\\["\\])*"|\'[^\']*\'|[^,"\'\[\]]+'


def read_crosvm(text, _beside):
    """key=value with strings that may stand in quotes."""
    rest, pairs = one_option(text, '--block'), []
    while rest:
        match = re.match(rf'([A-Za-z0-9_][A-Za-z0-9_-]*)=({STRING})(,|$)', rest, re.DOTALL)
        need(match, 'no key and value:', rest)
        value = match[2]
        if value[0] == '"':
            value = re.sub(r'\\(.)', r'\1', value[1:-1], flags=re.DOTALL)
        elif value[0] == "'":
            value = value[1:-1]
        pairs.append((match[1], value))
        rest = rest[match.end():]
    block = fields(pairs, {'path': '.+', 'o_direct': 'true|false', 'async_executor': 'epoll|uring'})
    return {'path': block['path'], 'direct': block['o_direct'] == 'true', 'uring': block['async_executor'] == 'uring'}


def read_bhyve(text, _beside):
    """slot,emulation,path and options between commas; a % begins a reference."""
    value = one_option(text, '-s')
    parts = value.split(',')
    need(len(parts) >= 3 and re.fullmatch('[0-9]+', parts[0]) and int(parts[0]) < 32, 'no slot:', value)
    need(parts[1] in ('virtio-blk', 'nvme'), 'unknown emulation', parts[1])
    need(parts[2].startswith('/') and '%' not in value, 'no path:', parts[2])
    allowed = {'nocache': '', 'direct': ''} | ({'ioslots': '[1-9][0-9]*'} if parts[1] == 'nvme' else {})
    options = fields([(part.split('=', 1) + [''])[:2] for part in parts[3:]], allowed)
    return {'path': parts[2], 'direct': 'nocache' in options, 'synchronous': 'direct' in options}


def unique(pairs):
    """An object whose members stand once."""
    need(len(dict(pairs)) == len(pairs), 'a member stands twice')
    return dict(pairs)


def read_firecracker(text, beside):
    """The documented members of a drive, and no others."""
    kinds = {'drive_id': str, 'path_on_host': str, 'is_root_device': bool, 'is_read_only': bool, 'cache_type': str, 'io_engine': str}
    try:
        drive = json.loads(text, object_pairs_hook=unique)
    except ValueError as error:
        raise Refused(error) from error
    need(isinstance(drive, dict) and set(drive) == set(kinds), 'members:', text)
    need(all(isinstance(drive[key], kind) for key, kind in kinds.items()), 'a member of the wrong kind')
    need(re.fullmatch('[A-Za-z0-9_]+', drive['drive_id']), 'drive_id', drive['drive_id'])
    need(drive['cache_type'] == 'Writeback', 'flushes are lost with', drive['cache_type'])
    need(drive['io_engine'] in ('Sync', 'Async'), drive['io_engine'])
    need('Unsafe' in beside and 'measured' in beside, 'the remarks are missing')
    need(drive['io_engine'] == 'Sync' or 'not yet suitable for production' in beside, 'Async without its warning')
    return {'path': drive['path_on_host'], 'async': drive['io_engine'] == 'Async'}


def read_kubevirt(text, _beside):
    """Fields of a Disk of KubeVirt's API, and what its admission refuses."""
    import yaml  # here, because the others need no package
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise Refused(error) from error
    need(isinstance(document, dict) and list(document) == ['disks'] and len(document['disks']) == 1, 'not one disk')
    disk = document['disks'][0]
    need(set(disk) <= {'name', 'disk', 'cache', 'io', 'dedicatedIOThread', 'blockSize', 'bootOrder', 'serial', 'shareable', 'tag'}, 'fields', disk)
    need(isinstance(disk['name'], str) and re.fullmatch('[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?', disk['name']), 'name', disk['name'])
    need(set(disk['disk']) == {'bus'} and disk['disk']['bus'] in ('virtio', 'scsi', 'sata', 'usb'), 'bus', disk['disk'])
    need(disk['cache'] in ('none', 'writethrough', 'writeback'), 'cache', disk['cache'])
    need(disk['io'] in ('native', 'threads'), 'io', disk['io'])
    need(disk['io'] != 'native' or disk['cache'] == 'none', 'native needs cache none')
    need(disk.get('dedicatedIOThread') in (None, True) and ('dedicatedIOThread' not in disk or disk['disk']['bus'] == 'virtio'), 'I/O thread')
    return {'direct': disk['cache'] == 'none', 'synchronous': disk['cache'] == 'writethrough', 'name': disk['name'], 'bus': disk['disk']['bus']}


VBOXMANAGE = '#!/bin/sh\nfor word; do printf "%s\\0" "$word"; done >>"$CALLS"\nprintf "\\n\\0" >>"$CALLS"\n'


def read_virtualbox(text, _beside):
    """What a shell makes of it, with a VBoxManage that writes down its arguments."""
    scratch = os.environ['SCRATCH']
    tool, calls = os.path.join(scratch, 'VBoxManage'), os.path.join(scratch, 'calls')
    with open(tool, 'w', encoding='utf-8') as file:
        file.write(VBOXMANAGE)
    os.chmod(tool, 0o755)
    open(calls, 'w', encoding='utf-8').close()
    done = subprocess.run(['sh', '-eu'], input=text, text=True, capture_output=True, check=False, cwd=scratch,
                          env={'PATH': scratch + ':' + os.environ['PATH'], 'CALLS': calls})
    need(done.returncode == 0 and not done.stdout + done.stderr, 'the shell says:', done.stdout, done.stderr)
    with open(calls, encoding='utf-8') as file:
        made = [call.split('\0')[:-1] for call in file.read().split('\n\0')[:-1]]
    need(len(made) == 2, 'calls:', made)
    need(made[0][:4] == ['storagectl', 'NAME', '--name', 'SATA'] and made[0][4:5] == ['--hostiocache'] and made[0][5:] in (['on'], ['off']), made[0])
    key = 'VBoxInternal/Devices/ahci/0/LUN#0/Config/IgnoreFlush'
    need(made[1] == ['setextradata', 'NAME', key, '0'], 'flushes would be lost:', made[1])
    return {'direct': made[0][5] == 'off'}


def read_vmware(text, _beside):
    """Parameters of vmw_pvscsi, or nothing but comments."""
    lines = code_lines(text)
    need(len(lines) <= 1, 'not one line:', lines)
    if not lines:
        return {'parameters': False}
    pairs = [(word.split('=', 1) + [''])[:2] for word in lines[0].split(' ')]
    found = fields(pairs, {'vmw_pvscsi.cmd_per_lun': '[1-9][0-9]*', 'vmw_pvscsi.ring_pages': '[1-9][0-9]*'})
    need(len(found) == 2 and int(found['vmw_pvscsi.cmd_per_lun']) <= 254 and int(found['vmw_pvscsi.ring_pages']) <= 32, 'ranges', found)
    return {'parameters': True}


class Check:
    """Counts and prints; the check's exit code."""

    def __init__(self):
        self.failed = False

    def case(self, what, function, *arguments):
        """One line for what the function finds; it raises AssertionError or Refused where something is wrong."""
        try:
            found = function(*arguments)
        except (AssertionError, Refused, LookupError, TypeError, ValueError) as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            print(f'FAIL {what}: {error} ({os.path.basename(where.filename)}:{where.lineno})')
            self.failed = True
        else:
            print(f'ok {what}' + (f' ({found})' if found else ''))

    def finish(self):
        """Ends the program."""
        sys.exit(1 if self.failed else 0)


def emitted(form, reader, document, *options):
    """What the consumer understands, or None where fstune refused in one clear line."""
    code, text, beside = answers.emit(form, document, *options)
    if code == 2:
        assert not text and re.fullmatch(rf'fstune: {form}: [^\n]+\n', beside), f'refused unclearly: {beside!r}'
        return None
    assert code == 0, f'exit code {code}: {beside}'
    return reader(text, beside)


def all_settings(form, reader, directsync, expect):
    """Every setting is read back as it was meant; --directsync is refused exactly where `directsync` says no."""
    n = 0
    for setting, options in settings():
        found = emitted(form, reader, answers.answer(**setting), '--image', '/vm/plain.img', *options)
        wanted = not options or directsync(setting)
        assert (found is not None) == wanted, f'{setting} {options}: {"refused" if wanted else "not refused"}'
        if found is not None:
            expect(found, setting, options)
            n += 1
    return f'{n} settings read'


def all_paths(form, reader, refused):
    """A path comes back byte by byte, or is refused; which ones are is known."""
    for path in NASTY:
        found = emitted(form, reader, answers.answer(), '--image', path)
        assert (found is None) == (path in refused), f'{path!r}: {found}'
        assert found is None or found.get('path', path) == path, f'{path!r} became {found["path"]!r}'
    assert not os.path.exists(os.path.join(os.environ['SCRATCH'], 'hacked')), 'a path was run'
    return f'{len(NASTY) - len(refused)} paths read back, {len(refused)} refused'


def none_of(reader, texts, beside='measured Unsafe'):
    """The reader itself refuses what is wrong on purpose."""
    for text in texts:
        try:
            found = reader(text, beside)
        except Refused:
            continue
        raise AssertionError(f'the checker takes {text!r} as {found}')
    return f'{len(texts)} wrong texts'

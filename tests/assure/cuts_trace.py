# SPDX-License-Identifier: Apache-2.0
"""Calls that change a disk, in the order in which they were done, from what strace(1) has written.

A call is known to be done when its line, or that of its end, stands in the trace: strace lets no thread see a result
before, so that what a program did because of a result comes behind it. One that began earlier and ended later than a
sync is not taken to be covered by it.
"""
import collections
import re

CHANGING = ['open', 'openat', 'openat2', 'creat', 'write', 'pwrite64', 'writev', 'pwritev', 'pwritev2', 'ftruncate',
            'truncate', 'fallocate', 'copy_file_range', 'sendfile', 'splice', 'rename', 'renameat', 'renameat2', 'link',
            'linkat', 'symlink', 'symlinkat', 'unlink', 'unlinkat', 'mkdir', 'mkdirat', 'rmdir', 'mknod', 'mknodat',
            'chmod', 'fchmod', 'fchmodat', 'utimensat', 'setxattr', 'lsetxattr', 'fsetxattr', 'removexattr',
            'lremovexattr', 'fremovexattr', 'ioctl', 'mmap', 'io_uring_setup']
SYNCING = ['fsync', 'fdatasync', 'sync', 'syncfs']
TELLING = ['statx', 'clone', 'clone3', 'fork', 'vfork', 'exit_group', 'dup', 'dup2', 'dup3', 'fcntl']
OPTIONS = ['-f', '-xx', '-y', '-v', '-s', '4200000', '-ttt', '-e', 'signal=none', '--seccomp-bpf',
           '-e', 'trace=' + ','.join(CHANGING + SYNCING + TELLING)]

LINE = re.compile(r'(\d+) +(\d+)\.(\d+) (.*)\n?', re.DOTALL)
BEGUN = re.compile(r'(\w+)\((.*)', re.DOTALL)
RESUMED = re.compile(r'<\.\.\. (\w+) resumed>(.*)', re.DOTALL)
RESULT = re.compile(r'\) += (-?\d+|0x[0-9a-f]+|\?)(.*)$', re.DOTALL)
UNFINISHED = ' <unfinished ...>'
Call = collections.namedtuple('Call', 'begin end time process name arguments result opened')
Exit = collections.namedtuple('Exit', 'end time process status')


class Untraceable(Exception):
    """The product changes a disk in a way that is not recorded."""


def text_of(hexadecimal):
    """A string, or the path behind a descriptor, that stands there as \\x41\\x42."""
    return bytes.fromhex(hexadecimal.replace('\\x', ''))


def split_arguments(text):
    """At commas that are in no brackets; strings have none, as all their bytes are \\xNN."""
    parts, depth, begin = [], 0, 0
    for match in re.finditer(r'[][{}(),]', text):
        mark = match.group()
        if mark in '[{(':
            depth += 1
        elif mark in ']})':
            depth -= 1
        elif depth == 0:
            parts.append(text[begin:match.start()].strip())
            begin = match.end()
    parts.append(text[begin:].strip())
    return parts


def descriptor_of(argument):
    """(number, path or None) of 3<\\x2f\\x61>, AT_FDCWD<...> or 5<socket:[1]>."""
    match = re.match(r'(-?\d+|AT_FDCWD)(?:<(.*?)>)?', argument)
    if not match:
        raise Untraceable(f'no descriptor: {argument[:80]}')
    number = -100 if match[1] == 'AT_FDCWD' else int(match[1])
    path = match[2]
    return number, text_of(path) if path and path.startswith('\\x') else None


def string_of(argument):
    match = re.match(r'"((?:\\x[0-9a-f]{2})*)"', argument)
    if not match or argument.endswith('...'):
        raise Untraceable(f'no string: {argument[:80]}')
    return text_of(match[1])


def strings_of(argument):
    return [text_of(each) for each in re.findall(r'"((?:\\x[0-9a-f]{2})*)"', argument)]


def whole_calls(path):
    """Calls and exits by their threads."""
    waiting = {}
    with open(path, encoding='ascii', errors='replace') as lines:
        for number, line in enumerate(lines):
            match = LINE.match(line)
            if not match:
                continue
            thread, text = int(match[1]), match[4].rstrip('\n')
            time = int(match[2]) * 10**9 + int(match[3]) * 1000
            if text.startswith('+++ exited with '):
                yield Exit(number, time, thread, int(text.split()[3]))
                continue
            if text.startswith('+++ killed by '):
                yield Exit(number, time, thread, -1)
                continue
            begin = number
            if resumed := RESUMED.match(text):
                begin, before = waiting.pop(thread, (number, resumed[1] + '('))
                text = before + resumed[2]
            elif text.endswith(UNFINISHED):
                waiting[thread] = (number, text[:-len(UNFINISHED)])
                continue
            begun, result = BEGUN.match(text), RESULT.search(text)
            if not begun or not result or result[1] == '?':
                continue
            arguments = begun[2][:len(begun[2]) - len(result[0])]
            yield Call(begin, number, time, thread, begun[1], arguments, int(result[1], 0), result[2])


def read_trace(path):
    """Calls that succeeded and exits, in order, with the process in the place of the thread."""
    found = list(whole_calls(path))
    process_of = {}

    def process(thread):
        while thread in process_of and process_of[thread] != thread:
            thread = process_of[thread]
        return thread

    for each in found:
        if isinstance(each, Call) and each.name in ('clone', 'clone3', 'fork', 'vfork') and each.result > 0:
            process_of[each.result] = each.process if 'CLONE_THREAD' in each.arguments else each.result
    events = []
    for each in found:
        if isinstance(each, Exit):
            if process(each.process) == each.process:
                events.append(each)
        elif each.result >= 0 or each.name == 'mmap':
            events.append(each._replace(process=process(each.process)))
    return events

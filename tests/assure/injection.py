# SPDX-License-Identifier: Apache-2.0
"""The other side of seam.c: which call of a program fails, of all its threads and children, and which there are."""
import collections
import contextlib
import errno
import fcntl
import mmap
import os
import re
import select
import socket
import struct
import subprocess
import threading

import calls

NOTIFICATION = struct.Struct('=QII iIQ6Q')  # seccomp_notif: id, pid, flags; nr, arch, address, arguments
RESPONSE = struct.Struct('=QqiI')           # seccomp_notif_resp: id, value, error, flags
# spec: linux/seccomp.h
SECCOMP_IOCTL_NOTIF_RECV, SECCOMP_IOCTL_NOTIF_SEND, SECCOMP_IOCTL_NOTIF_SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082104
SECCOMP_USER_NOTIF_FLAG_CONTINUE = 1
SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP = 1
HEAD = struct.Struct('=6q')  # of seam.c's counts: armed, call, at, lasts, error, fired
COUNTS = struct.Struct('=32q')

Fault = collections.namedtuple('Fault', 'call error at lasts')


def build(folder):
    """The library, and the numbers of the calls here."""
    library = os.path.join(folder, 'seam.so')
    here = os.path.dirname(os.path.realpath(__file__))
    subprocess.run(['cc', '-shared', '-fPIC', '-O2', '-o', library, os.path.join(here, 'seam.c'), '-ldl'], check=True)
    said = subprocess.run(['cc', '-E', '-dM', '-include', 'sys/syscall.h', '-x', 'c', '/dev/null'], check=True,
                          capture_output=True, text=True).stdout
    numbers = {name: int(number) for name, number in re.findall(r'#define __NR_(\w+) (\d+)', said)}
    return library, numbers


class Injection:
    """Of one run. A fault of None counts all calls. Threads: one of its own answers, others ask and arm."""

    def __init__(self, folder, program, library, numbers, fault=None, counts_all=False):
        self.fault, self.numbers, self.counts_all = fault, numbers, counts_all
        self.names = {number: name for name, number in numbers.items()}
        self.armed, self.fired, self.seen = True, 0, collections.Counter()
        self.what, self.kind, self.is_mute = '', None, False  # is_mute: words to stderr have failed
        self.by_seam = fault is not None and calls.is_interposed(fault.call, fault.error)
        self.environment = {'LD_PRELOAD': library, 'EVERY_CALL_PROGRAM': os.path.realpath(program)}
        self.counts = None
        if self.by_seam or counts_all:
            self.map_counts(os.path.join(folder, 'counts'))
        self.closing, self.wakes = os.pipe()
        self.server_socket = None
        if not self.by_seam:
            self.open_server_socket(folder)
        self.listener = None
        self.program, self.process, self.own_threads = os.path.realpath(program), None, set()
        self.thread = threading.Thread(target=self.answer, daemon=True)
        self.thread.start()

    def map_counts(self, path):
        with open(path, 'wb') as file:
            file.truncate(4096)
        with open(path, 'r+b') as file:
            self.counts = mmap.mmap(file.fileno(), 4096)
        place = calls.SEAM.index(self.fault.call) if self.by_seam else -1
        error = getattr(errno, self.fault.error, 0) if self.by_seam else 0
        HEAD.pack_into(self.counts, 0, 1, place, self.fault.at if self.by_seam else 0,
                       int(self.by_seam and self.fault.lasts), error, 0)
        self.environment['EVERY_CALL_COUNTS'] = path

    def open_server_socket(self, folder):
        name = f'every-call-{os.getpid()}-{os.path.basename(folder)}'
        self.server_socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        self.server_socket.bind('\0' + name)
        self.server_socket.listen(8)
        self.environment['EVERY_CALL_SOCKET'] = name
        self.environment['EVERY_CALL_NUMBERS'] = 'all' if self.counts_all else str(self.numbers[self.fault.call])

    def arm(self, armed):
        """While it is not armed no call is counted, and none fails."""
        self.armed = armed
        if self.counts:
            struct.pack_into('=q', self.counts, 0, int(armed))

    def count_of_fired(self):
        return HEAD.unpack_from(self.counts)[-1] if self.by_seam else self.fired

    def all_seen(self):
        seen = collections.Counter(self.seen)
        for name, count in zip(calls.SEAM, COUNTS.unpack_from(self.counts, HEAD.size)):
            if calls.is_interposed(name, None):
                seen[name] = count
            elif count:
                seen[name + ' SHORT'] = count
        return seen

    def close(self):
        os.close(self.wakes)
        self.thread.join(10)
        for each in (self.server_socket, self.listener):
            if each is not None:
                os.close(each) if isinstance(each, int) else each.close()
        os.close(self.closing)

    # ---- The thread that answers

    def answer(self):
        poll = select.poll()
        poll.register(self.closing, select.POLLIN)
        if self.server_socket:
            poll.register(self.server_socket, select.POLLIN)
        while True:
            for place, events in poll.poll():
                if place == self.closing:
                    return
                if self.server_socket and place == self.server_socket.fileno():
                    self.take_listener(poll)
                elif not events & select.POLLIN:
                    poll.unregister(place)  # nobody is left whose calls it tells
                else:
                    self.take_call()

    def take_listener(self, poll):
        connection, _ = self.server_socket.accept()
        with connection:
            connection.settimeout(5)
            process, _, _ = struct.unpack('3i', connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            _, handed, _, _ = socket.recv_fds(connection, 1, 1)
        if not handed:
            return  # a child, which has its parent's
        self.listener, self.process = handed[0], process
        with contextlib.suppress(OSError):  # before Linux 6.6
            fcntl.ioctl(self.listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
        poll.register(self.listener, select.POLLIN)

    def take_call(self):
        room = bytearray(NOTIFICATION.size)
        try:
            fcntl.ioctl(self.listener, SECCOMP_IOCTL_NOTIF_RECV, room)
        except OSError:
            return  # a signal has ended it meanwhile
        each, task, _, number, _, _, *arguments = NOTIFICATION.unpack(room)
        value = (0, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE)
        if self.armed and self.concerns(task):
            name = self.names.get(number, str(number))
            self.seen[name] += 1
            if self.fails(self.seen[name]) and self.can_fail(task, name, arguments):
                self.what = self.what or describe(task, name, arguments)
                self.fired += 1
                self.is_mute = self.is_mute or (name in ('write', 'writev') and arguments[0] == 2)
                value = (0, -getattr(errno, self.fault.error), 0)
        with contextlib.suppress(OSError):  # likewise
            fcntl.ioctl(self.listener, SECCOMP_IOCTL_NOTIF_SEND, RESPONSE.pack(each, *value))

    def concerns(self, task):
        """A thread of the program's, or a child before it is another program; not the far end that fake_ssh starts."""
        if task in self.own_threads:
            return True
        try:
            with open(f'/proc/{task}/status', encoding='utf-8', errors='replace') as status:
                if f'\nTgid:\t{self.process}\n' in status.read():
                    self.own_threads.add(task)
                    return True
            with open(f'/proc/{task}/environ', 'rb') as environment:
                is_spared = b'EVERY_CALL_SPARED=1' in environment.read()
                return os.readlink(f'/proc/{task}/exe') == self.program and not is_spared
        except OSError:
            return False

    def can_fail(self, task, name, arguments):
        """One that lasts is of descriptors that are like the first; errors of paths are of calls that have one."""
        descriptor, operation = arguments[:2]
        if self.fault.error in calls.OF_PATHS and name in calls.PATH_AT and not path_of(task, name, arguments):
            return False
        kind = kind_of(task, descriptor) if name in calls.OF_DESCRIPTORS | calls.OF_SOCKETS else None
        if not calls.can_fail_there(name, self.fault.error, kind, operation):
            return False
        if name not in calls.OF_DESCRIPTORS or not self.fault.lasts:
            return True
        self.kind = self.kind or kind
        return kind == self.kind

    def fails(self, now):
        return self.fault is not None and (now == self.fault.at or (now > self.fault.at and self.fault.lasts))


def ends_of(task, descriptor):
    """O_RDONLY, O_WRONLY or O_RDWR."""
    with open(f'/proc/{task}/fdinfo/{descriptor}', encoding='ascii') as told:
        return next(int(line.split()[1], 8) & os.O_ACCMODE for line in told if line.startswith('flags:'))


def kind_of(task, descriptor):
    """`file`, or socket, netlink, pipe, own pipe (of both ends), anon_inode:[eventfd] and the like."""
    try:
        link = os.readlink(f'/proc/{task}/fd/{descriptor}')
    except OSError:
        return 'none'
    with contextlib.suppress(OSError):
        if link.startswith('socket:'):
            with open(f'/proc/{task}/net/netlink', encoding='ascii') as sockets:
                if link[len('socket:['):-1] in (line.split()[-1] for line in sockets):
                    return 'netlink'
    if link.startswith('pipe:'):
        with contextlib.suppress(OSError):
            of_it = [each for each in os.listdir(f'/proc/{task}/fd') if os.readlink(f'/proc/{task}/fd/{each}') == link]
            if len({ends_of(task, each) for each in of_it}) > 1:
                return 'own pipe'
    return 'file' if link.startswith('/') else link if link.startswith('anon') else link.split(':')[0]


def path_of(task, name, arguments):
    """b'' for an empty path, a null pointer (futimens(3)), or memory that cannot be read."""
    with contextlib.suppress(OSError, OverflowError), open(f'/proc/{task}/mem', 'rb', buffering=0) as memory:
        memory.seek(arguments[calls.PATH_AT[name]])
        return memory.read(256).split(b'\0')[0]
    return b''


def describe(task, name, arguments):
    """A call's path or descriptor, and who calls."""
    words = []
    with contextlib.suppress(OSError, ValueError):
        with open(f'/proc/{task}/comm', encoding='ascii', errors='replace') as comm:
            words.append(f'by {comm.read().strip()}')
        if name in calls.PATH_AT:
            words.append(repr(path_of(task, name, arguments).decode(errors='replace')))
        elif arguments[0] < 4096:
            words.append(f'of {arguments[0]}, ' + os.readlink(f'/proc/{task}/fd/{arguments[0]}'))
    return ' '.join(words)

# SPDX-License-Identifier: Apache-2.0
"""Two hosts in one place: a directory that is the disk of each, and the processes that run there."""
import ctypes
import json
import os
import random
import shutil
import signal
import socket
import stat
import subprocess
import time

import cuts_trace
from cuts_history import History

PATIENCE_S = 120                                     # guess: a thousand times what a run takes
LOOK_EVERY_S = 0.002
BOOT_ID = '/proc/sys/kernel/random/boot_id'
NEW_BOOT_ID = 'c0ffee00-0000-4000-8000-000000000001'
STATX_BTIME = 0x800                                  # spec: linux/stat.h
AT_SYMLINK_NOFOLLOW = 0x100                          # spec: linux/fcntl.h
CLONE_NEWNS, CLONE_NEWNET = 0x20000, 0x40000000      # spec: linux/sched.h
MS_BIND = 0x1000                                     # spec: linux/mount.h
DISKS = ('near', 'far')
RECORDED = 'recorded.json'                           # the last file of a recording
libc = ctypes.CDLL(None, use_errno=True)


class Hang(Exception):
    """A process that does not end, or does not say what is waited for."""


def content_for(name, size, hole=None):
    """Bytes that are this file's alone; `hole` is a range without data."""
    content = bytearray(random.Random(name).randbytes(size))
    if hole:
        content[hole[0]:hole[1]] = bytes(hole[1] - hole[0])
    return bytes(content)


def write_file(path, content, mode=0o644, times=None):
    """With its holes, as whole pages of zeros."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as file:
        for at in range(0, len(content), 65536):
            piece = content[at:at + 65536]
            if piece.count(0) != len(piece):
                os.pwrite(file.fileno(), piece, at)
        file.truncate(len(content))
    os.chmod(path, mode)
    if times is not None:
        os.utime(path, ns=(times, times))


def free_port():
    """One that neither TCP nor UDP has."""
    while True:
        with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
            tcp.bind(('127.0.0.1', 0))
            port = tcp.getsockname()[1]
            try:
                udp.bind(('127.0.0.1', port))
                return port
            except OSError:
                continue


def birth_time(path):
    """Of a file, as the program writes it; None: the file system has none."""
    buffer = ctypes.create_string_buffer(256)
    if libc.statx(-100, os.fsencode(path), AT_SYMLINK_NOFOLLOW, STATX_BTIME, buffer) != 0:
        return None
    mask = int.from_bytes(buffer[0:4], 'little')
    seconds, nanoseconds = int.from_bytes(buffer[80:88], 'little'), int.from_bytes(buffer[88:92], 'little')
    return b'%d.%09d' % (seconds, nanoseconds) if mask & STATX_BTIME else None


def fake_reboot():
    """Gives this process and its children a new boot_id and a network namespace of its own, in which every port is
    free. Returns whether it could."""
    if libc.unshare(CLONE_NEWNS | CLONE_NEWNET) != 0:
        return False
    if subprocess.run(['ip', 'link', 'set', 'lo', 'up'], check=False).returncode != 0:
        return False
    fresh = f'/dev/shm/power-cuts-boot-{os.getpid()}'
    with open(fresh, 'w', encoding='ascii') as file:
        file.write(NEW_BOOT_ID + '\n')
    private = subprocess.run(['mount', '--make-rprivate', '/'], check=False).returncode == 0
    done = private and subprocess.run(['mount', '--bind', fresh, BOOT_ID], check=False).returncode == 0
    os.unlink(fresh)
    return done


def put_in_place_of(place, shown):
    """For this process and its children, after fake_reboot(): one directory is seen as another."""
    if libc.mount(os.fsencode(place), os.fsencode(shown), None, MS_BIND, None) != 0:
        raise OSError(ctypes.get_errno(), f'mount {place} on {shown}')


class Seen:
    """What stands at a name."""

    def __init__(self, kind, content=None, mode=None, times=None):
        self.kind, self.content, self.mode, self.times = kind, content, mode, times

    def differs(self, wanted):
        """In words; None: it is what is wanted, where that says something."""
        if self.kind != wanted.kind:
            return f'a {self.kind} in the place of a {wanted.kind}'
        if wanted.content is not None and self.content != wanted.content:
            return self.how_content_differs(wanted.content)
        if wanted.mode is not None and self.mode != wanted.mode:
            return f'mode {self.mode:04o}, not {wanted.mode:04o}'
        if wanted.times is not None and self.times != wanted.times:
            return f'another time of change, {self.times} and not {wanted.times}'
        return None

    def how_content_differs(self, wanted):
        if self.kind == 'link':
            return f'a link to {self.content!r}'
        if len(self.content) != len(wanted):
            return f'{len(self.content)} bytes, not {len(wanted)}'
        at = next(each for each in range(len(wanted)) if self.content[each] != wanted[each])
        return f'the bytes from {at} on are not those of the file'


def look(root):
    """All that is below a directory."""
    found = {}
    for directory, directories, files in os.walk(root):
        for name in directories + files:
            path = os.path.join(directory, name)
            status = os.lstat(path)
            seen = Seen('other', None, stat.S_IMODE(status.st_mode), status.st_mtime_ns)
            if stat.S_ISDIR(status.st_mode):
                seen.kind = 'directory'
            elif stat.S_ISLNK(status.st_mode):
                seen.kind, seen.content = 'link', os.fsencode(os.readlink(path))
            elif stat.S_ISREG(status.st_mode):
                seen.kind = 'file'
                with open(path, 'rb') as file:
                    seen.content = file.read()
            found[os.path.relpath(path, root)] = seen
    return found


def seen_in(tree):
    """The same of a state that is modelled."""
    return {os.fsdecode(path): Seen(node.kind, node.content, stat.S_IMODE(node.mode), node.times)
            for path, node in tree.items()}


def materialise(tree, root):
    """Makes a modelled disk a real one. When a file was made, as a journal of the program says, becomes true again."""
    os.makedirs(root)
    made, births, journals, directories = {}, {}, [], []
    for path, node in sorted(tree.items()):
        place = os.path.join(root, os.fsdecode(path))
        if id(node) in made and node.kind != 'directory':
            os.link(made[id(node)], place, follow_symlinks=False)
            continue
        made[id(node)] = place
        if node.kind == 'directory':
            os.mkdir(place)
            directories.append((place, node))
        elif node.kind == 'link':
            os.symlink(os.fsdecode(node.content), place)
        elif node.kind == 'other':
            os.mkfifo(place)
            os.chmod(place, stat.S_IMODE(node.mode))
        else:
            write_file(place, node.content, stat.S_IMODE(node.mode))
            if node.content.startswith(b'udtcat restart 1\n'):
                journals.append((place, node))
            births[node.inode.birth] = place
            for name, value in node.xattrs.items():
                os.setxattr(place, name, value)
        if node.times is not None and node.kind != 'directory':
            os.utime(place, ns=(node.times, node.times), follow_symlinks=False)
    for place, node in journals:
        lines = node.content.split(b'\n')
        said = [line[5:] for line in lines if line.startswith(b'part ')]
        birth = birth_time(births[said[0]]) if said and said[0] in births else None
        if birth:
            write_file(place, node.content.replace(b'\npart ' + said[0] + b'\n', b'\npart ' + birth + b'\n', 1),
                       stat.S_IMODE(node.mode))
    for place, node in reversed(directories):
        os.chmod(place, stat.S_IMODE(node.mode))
        if node.times is not None:
            os.utime(place, ns=(node.times, node.times))


class Stage:
    """Processes on the two disks of a place."""

    def __init__(self, program, place, port=None):
        self.program, self.place, self.keys = program, place, os.path.join(place, 'keys')
        self.port = port or free_port()
        self.processes = {}
        os.makedirs(self.at('said'), exist_ok=True)

    def at(self, *words):
        return os.path.join(self.place, *words)

    def start(self, name, disk, *words, stdin=b''):
        home = self.at(disk, 'home')
        environment = {'PATH': os.environ['PATH'], 'HOME': home}
        environment.update({key: value for key, value in os.environ.items() if key.endswith('SAN_OPTIONS')})
        # A sanitizer looks for leaks by ptrace(2), as strace(1) does, and would wait for it for ever.
        environment['ASAN_OPTIONS'] = environment.get('ASAN_OPTIONS', '') + ':detect_leaks=0'
        said = self.at('said', name)
        with open(said, 'wb') as errors, open(said + '.out', 'wb') as out:
            process = subprocess.Popen([self.program, *words], cwd=self.at(disk), env=environment, stdout=out,
                                       stderr=errors, stdin=subprocess.PIPE)
        self.processes[name] = process
        process.stdin.write(stdin)
        process.stdin.close()

    def said(self, name):
        with open(self.at('said', name), errors='replace', encoding='utf-8') as file:
            return file.read()

    def wait_until(self, is_so, what, name):
        end = time.monotonic() + PATIENCE_S
        while not is_so():
            if time.monotonic() > end or self.processes[name].poll() is not None:
                self.stop()
                raise Hang(f'{what}: {self.said(name)}')
            time.sleep(LOOK_EVERY_S)

    def wait_for_words(self, name, words):
        self.wait_until(lambda: words in self.said(name), f'{name} does not say "{words}"', name)

    def wait(self, name):
        try:
            return self.processes[name].wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.stop()
            raise Hang(f'{name} has no end: {self.said(name)}') from None

    def end(self, name, by=signal.SIGTERM):
        self.processes[name].send_signal(by)
        return self.wait(name)

    def stop(self):
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
                process.wait()


def record(program, product, place, script):
    """Plays a product in a place below strace(1), and returns nothing: the recording is in the place."""
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(os.path.join(place, 'keys'))
    product.make_keys(program, os.path.join(place, 'keys'))
    for disk in DISKS:
        os.makedirs(os.path.join(place, disk, 'home'))
    product.prepare(place)
    for disk in DISKS:
        subprocess.run(['cp', '-a', os.path.join(place, disk), os.path.join(place, 'start-' + disk)], check=True)
    done = subprocess.run(['strace', '-o', os.path.join(place, 'trace'), *cuts_trace.OPTIONS, script, program,
                           '--play', product.name, '--place', place],
                          check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f'{product.name} could not be recorded: {done.stdout}{done.stderr}')
    os.rename(os.path.join(place, 'played.json'), os.path.join(place, RECORDED))


def play(program, product, place):
    """The part of record() that is below strace(1)."""
    os.umask(0o022)
    stage = Stage(program, place)
    statuses = product.play(stage)
    ends = {name: [stage.processes[name].pid, status] for name, status in statuses.items()}
    with open(os.path.join(place, 'played.json'), 'w', encoding='utf-8') as file:
        json.dump({'place': place, 'port': stage.port, 'ends': ends}, file)


def read_recording(place):
    """The history of a recording, the line at which each end had exited with 0, and the port."""
    with open(os.path.join(place, RECORDED), encoding='utf-8') as file:
        recorded = json.load(file)
    history = History({disk: os.path.join(recorded['place'], disk) for disk in DISKS},
                      {disk: os.path.join(place, 'start-' + disk) for disk in DISKS})
    history.read(cuts_trace.read_trace(os.path.join(place, 'trace')))
    acknowledged = {}
    for name, (process, status) in recorded['ends'].items():
        if status != 0:
            raise RuntimeError(f'{place}: {name} ended with {status}')
        acknowledged[name] = next(each.end for each in history.exits if each.process == process)
    return history, acknowledged, recorded['port']

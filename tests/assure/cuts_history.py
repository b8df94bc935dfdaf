# SPDX-License-Identifier: Apache-2.0
"""All that was done to the disks of a recording: inodes, operations on them, and syncs, by lines of the trace."""
import os
import re
import stat

from cuts_trace import Exit, Untraceable, descriptor_of, split_arguments, string_of, strings_of

NAMING = ('link', 'unlink', 'rename')          # of directories; link: of any new name
CONTENT = ('write', 'truncate', 'zero_range')  # of a file, and covered by fdatasync(2)
ATTRIBUTES = ('mode', 'times', 'xattr')
UMASK = 0o022                                  # of what is recorded


class Inode:
    """`start` is what was on the disk before the recording, `now` what a process sees at the line that is read."""

    def __init__(self, kind, mode=0o644, start=None):
        self.kind, self.mode, self.times, self.xattrs = kind, mode, None, {}
        self.start = start if start is not None else ({} if kind == 'directory' else b'')
        self.now = dict(self.start) if kind == 'directory' else bytearray(self.start)
        self.birth = None
        self.operations = []


class Operation:
    """A change that a cut may keep or lose. `inode` is the one that is changed, or named; `places` are the names,
    as (directory, name), that it leads away from and to."""

    def __init__(self, call, disk, kind, inode, places=(), **what):
        self.begin, self.end, self.time = call.begin, call.end, call.time
        self.disk, self.kind, self.inode, self.places = disk, kind, inode, places
        self.at = what.get('at', 0)
        self.data = what.get('data')
        self.over = what.get('over')
        self.number = None

    def __str__(self):
        names = ' -> '.join(os.fsdecode(name) for _, name in self.places)
        about = names or f'{self.kind} at {self.at}' if self.kind in NAMING else f'at {self.at}'
        more = f', {len(self.data)} bytes' if isinstance(self.data, (bytes, bytearray)) else f' {self.data or ""}'
        more = '' if self.kind in NAMING else more
        return f'operation {self.number} (line {self.end}): {self.kind} {about}{more}'


class Sync:
    def __init__(self, call, kind, disk, inode=None):
        self.begin, self.end, self.kind, self.disk, self.inode = call.begin, call.end, kind, disk, inode


class OpenFile:
    def __init__(self, inode, disk, appends):
        self.inode, self.disk, self.appends, self.offset = inode, disk, appends, 0


def apply_to(content, operation):
    """Does an operation of a file to a bytearray."""
    if operation.kind == 'write':
        if len(content) < operation.at:
            content.extend(bytes(operation.at - len(content)))
        content[operation.at:operation.at + len(operation.data)] = operation.data
    elif operation.kind == 'truncate':
        if operation.at < len(content):
            del content[operation.at:]
        else:
            content.extend(bytes(operation.at - len(content)))
    elif operation.kind == 'zero_range':
        end = min(operation.at + operation.data, len(content))
        if end > operation.at:
            content[operation.at:end] = bytes(end - operation.at)


def snapshot(path, known):
    """The inode of what is there; two names of one file have one."""
    status = os.lstat(path)
    if status.st_ino in known:
        return known[status.st_ino]
    if stat.S_ISDIR(status.st_mode):
        inode = Inode('directory', stat.S_IMODE(status.st_mode),
                      {os.fsencode(name): snapshot(os.path.join(path, name), known) for name in os.listdir(path)})
    elif stat.S_ISLNK(status.st_mode):
        inode = Inode('link', 0o777, os.fsencode(os.readlink(path)))
    elif stat.S_ISREG(status.st_mode):
        with open(path, 'rb') as file:
            inode = Inode('file', stat.S_IMODE(status.st_mode), file.read())
        inode.xattrs = {os.fsencode(name): os.getxattr(path, name) for name in os.listxattr(path)}
    else:
        inode = Inode('other', status.st_mode)
    inode.times = status.st_mtime_ns
    known[status.st_ino] = inode
    return inode


class History:
    """Of one recording. `paths` are the disks by name, directories of the trace; `starts` what they were before."""

    def __init__(self, paths, starts):
        self.paths = {name: os.fsencode(path) for name, path in paths.items()}
        self.roots = {name: snapshot(path, {}) for name, path in starts.items()}
        self.operations, self.syncs, self.exits, self.open_files, self.directories = [], [], [], {}, {}

    # ---- Names

    def disk_of(self, path):
        for name, root in self.paths.items():
            if path == root or path.startswith(root + b'/'):
                return name
        return None

    def parent_of(self, path):
        """(disk, directory, name) of an absolute path below a root; None: it is elsewhere."""
        path = os.path.normpath(path)
        disk = self.disk_of(path)
        if disk is None or path == self.paths[disk]:
            return None
        *words, last = path[len(self.paths[disk]) + 1:].split(b'/')
        directory = self.roots[disk]
        for word in words:
            directory = directory.now.get(word) if directory and directory.kind == 'directory' else None
        if directory is None or directory.kind != 'directory':
            raise Untraceable(f'a directory is not known: {path!r}')
        return disk, directory, last

    def inode_at(self, path):
        path = os.path.normpath(path)
        disk = self.disk_of(path)
        if disk and path == self.paths[disk]:
            return disk, self.roots[disk]
        place = self.parent_of(path)
        return (place[0], place[1].now.get(place[2])) if place else (None, None)

    def path_of(self, inode):
        def search(directory, path):
            for name, each in directory.now.items():
                if each is inode:
                    return path + b'/' + name
                found = search(each, path + b'/' + name) if each.kind == 'directory' else None
                if found:
                    return found
            return None
        for name, root in self.roots.items():
            found = self.paths[name] if root is inode else search(root, self.paths[name])
            if found:
                return found
        return None

    def full_path(self, process, at, path):
        """The absolute path that a call means, through /proc/self/fd/N as well."""
        by_descriptor = re.fullmatch(rb'/proc/(?:self|thread-self)/fd/(\d+)(/.*)?', path)
        if by_descriptor:
            open_file = self.open_files.get((process, int(by_descriptor[1])))
            base = self.path_of(open_file.inode) if open_file else None
            return base + (by_descriptor[2] or b'') if base else b'/nowhere'
        if path.startswith(b'/'):
            return path
        at = at or self.directories.get(process)
        if at is None:
            raise Untraceable(f'a relative path: {path!r}')
        return os.path.join(at, path) if path else at

    def open_file(self, process, argument):
        """Of a call on a descriptor; None: it is of no file here."""
        number, path = descriptor_of(argument)
        if path is None or self.disk_of(path) is None:
            return None
        known = self.open_files.get((process, number))
        if known is None:
            disk, inode = self.inode_at(path)
            known = OpenFile(inode, disk, False) if inode else None
        return known

    # ---- Operations

    def add(self, operation):
        operation.number = len(self.operations)
        self.operations.append(operation)
        operation.inode.operations.append(operation)
        if operation.kind in NAMING:
            self.apply_naming(operation)
            for directory, _ in operation.places:
                if directory is not operation.inode:
                    directory.operations.append(operation)
        elif operation.kind in CONTENT:
            apply_to(operation.inode.now, operation)

    @staticmethod
    def apply_naming(operation):
        if operation.kind in ('unlink', 'rename'):
            directory, name = operation.places[0]
            directory.now.pop(name, None)
        if operation.kind in ('link', 'rename'):
            directory, name = operation.places[-1]
            directory.now[name] = operation.inode

    def link(self, call, path, inode):
        place = self.parent_of(path)
        if place:
            self.add(Operation(call, place[0], 'link', inode, ((place[1], place[2]),)))

    def content_operation(self, call, open_file, kind, at, data=None):
        if open_file and open_file.inode.kind == 'file':
            self.add(Operation(call, open_file.disk, kind, open_file.inode, at=at, data=data))

    def read(self, events):
        for event in events:
            if isinstance(event, Exit):
                self.exits.append(event)
                continue
            if event.arguments.startswith('AT_FDCWD<'):
                self.directories[event.process] = descriptor_of(event.arguments)[1]
            handler = getattr(self, 'on_' + event.name, None)
            if handler:
                handler(event, split_arguments(event.arguments))
        return self

    # ---- Opening

    def opened(self, call, flags, mode):
        number, path = descriptor_of(f'{call.result}{call.opened.strip()}')
        self.open_files.pop((call.process, number), None)
        if path is None or self.disk_of(path) is None:
            return
        if 'O_TMPFILE' in flags:  # it has no name until linkat(2)
            self.open_files[(call.process, number)] = OpenFile(Inode('file', mode & ~UMASK), self.disk_of(path), False)
            return
        if path.endswith(b' (deleted)'):
            return
        if 'O_SYNC' in flags or 'O_DSYNC' in flags:
            raise Untraceable(f'{flags} of {path!r}')
        disk, inode = self.inode_at(path)
        if inode is None and 'O_CREAT' in flags:
            inode = Inode('file', mode & ~UMASK)
            self.link(call, path, inode)
        elif inode and 'O_TRUNC' in flags and inode.now:
            self.add(Operation(call, disk, 'truncate', inode, at=0))
        if inode:
            self.open_files[(call.process, number)] = OpenFile(inode, disk, 'O_APPEND' in flags)

    def on_openat(self, call, words):
        self.opened(call, words[2], int(words[3], 8) if len(words) > 3 else 0)

    def on_open(self, call, words):
        self.opened(call, words[1], int(words[2], 8) if len(words) > 2 else 0)

    def on_creat(self, call, words):
        self.opened(call, 'O_CREAT|O_TRUNC', int(words[1], 8))

    def on_openat2(self, call, words):
        mode = re.search(r'mode=(0\d*)', words[2])
        self.opened(call, words[2], int(mode[1], 8) if mode else 0)

    def on_dup(self, call, words):
        number, _ = descriptor_of(words[0])
        known = self.open_files.get((call.process, number))
        self.open_files.pop((call.process, call.result), None)
        if known:
            self.open_files[(call.process, call.result)] = known

    on_dup2 = on_dup3 = on_dup

    def on_fcntl(self, call, words):
        if words[1].startswith('F_DUPFD'):
            self.on_dup(call, words)

    # ---- Content

    def put(self, call, open_file, data, at=None):
        if open_file is None or open_file.inode.kind != 'file':
            return
        if len(data) < call.result:
            raise Untraceable('a write is cut off in the trace')
        data = data[:call.result]
        if at is None:
            at = len(open_file.inode.now) if open_file.appends else open_file.offset
            open_file.offset = at + len(data)
        if data:
            self.content_operation(call, open_file, 'write', at, data)

    def on_write(self, call, words):
        open_file = self.open_file(call.process, words[0])
        if open_file:
            self.put(call, open_file, string_of(words[1]))

    def on_pwrite64(self, call, words):
        open_file = self.open_file(call.process, words[0])
        if open_file:
            self.put(call, open_file, string_of(words[1]), int(words[3]))

    def on_writev(self, call, words):
        open_file = self.open_file(call.process, words[0])
        if open_file:
            self.put(call, open_file, b''.join(strings_of(words[1])))

    def on_pwritev(self, call, words):
        open_file = self.open_file(call.process, words[0])
        if open_file:
            self.put(call, open_file, b''.join(strings_of(words[1])), int(words[3]))

    on_pwritev2 = on_pwritev

    def on_ftruncate(self, call, words):
        open_file = self.open_file(call.process, words[0])
        if open_file and len(open_file.inode.now) != int(words[1]):
            self.content_operation(call, open_file, 'truncate', int(words[1]))

    def on_truncate(self, call, words):
        disk, inode = self.inode_at(self.full_path(call.process, None, string_of(words[0])))
        if inode:
            self.add(Operation(call, disk, 'truncate', inode, at=int(words[1])))

    def on_fallocate(self, call, words):
        open_file, at, bytes_ = self.open_file(call.process, words[0]), int(words[2]), int(words[3])
        if open_file is None:
            return
        if 'PUNCH_HOLE' in words[1] or 'ZERO_RANGE' in words[1]:
            self.content_operation(call, open_file, 'zero_range', at, bytes_)
        elif 'COLLAPSE' in words[1] or 'INSERT' in words[1]:
            raise Untraceable(words[1])
        if 'KEEP_SIZE' not in words[1] and at + bytes_ > len(open_file.inode.now):
            self.content_operation(call, open_file, 'truncate', at + bytes_)

    def on_copy_file_range(self, call, words):
        source, to = self.open_file(call.process, words[0]), self.open_file(call.process, words[2])
        if to is None:
            return
        offsets = [re.fullmatch(r'\[(\d+)\](?: => .*)?', words[each]) for each in (1, 3)]
        if source is None or None in offsets:
            raise Untraceable('copy_file_range(2) from elsewhere, or without offsets')
        begin, at = (int(each[1]) for each in offsets)
        self.content_operation(call, to, 'write', at, bytes(source.inode.now[begin:begin + call.result]))

    def refuse_data(self, call, to):
        if self.open_file(call.process, to):
            raise Untraceable(f'{call.name}(2) into a file')

    def on_sendfile(self, call, words):
        self.refuse_data(call, words[0])

    def on_splice(self, call, words):
        self.refuse_data(call, words[2])

    def on_ioctl(self, call, words):
        if 'FICLONE' in words[1]:
            self.refuse_data(call, words[0])

    def on_mmap(self, call, words):
        if 'PROT_WRITE' in words[2] and 'MAP_SHARED' in words[3] and not words[4].startswith('-1'):
            self.refuse_data(call, words[4])

    def on_io_uring_setup(self, call, words):
        raise Untraceable(f'io_uring: {call.name}({words[0]})')

    # ---- Names

    def target(self, call, at, path):
        return self.full_path(call.process, descriptor_of(at)[1] if at else None, string_of(path))

    def rename(self, call, source, to, flags='0'):
        if 'EXCHANGE' in flags or 'WHITEOUT' in flags:
            raise Untraceable(flags)
        here, there = self.parent_of(source), self.parent_of(to)
        if here is None and there is None:
            return
        if here is None or there is None or here[0] != there[0]:
            raise Untraceable(f'a rename from or to elsewhere: {source!r} to {to!r}')
        inode, over = here[1].now.get(here[2]), there[1].now.get(there[2])
        if inode is None:
            raise Untraceable(f'a rename of what is not known: {source!r}')
        self.add(Operation(call, here[0], 'rename', inode, (here[1:], there[1:]), over=over))

    def on_rename(self, call, words):
        self.rename(call, self.target(call, None, words[0]), self.target(call, None, words[1]))

    def on_renameat(self, call, words):
        self.rename(call, self.target(call, words[0], words[1]), self.target(call, words[2], words[3]))

    def on_renameat2(self, call, words):
        self.rename(call, self.target(call, words[0], words[1]), self.target(call, words[2], words[3]), words[4])

    def hard_link(self, call, of, path):
        _, inode = self.inode_at(of)
        if inode:
            self.link(call, path, inode)

    def on_link(self, call, words):
        self.hard_link(call, self.target(call, None, words[0]), self.target(call, None, words[1]))

    def on_linkat(self, call, words):
        by_descriptor = re.fullmatch(rb'/proc/(?:self|thread-self)/fd/(\d+)', string_of(words[1]))
        if by_descriptor:
            open_file = self.open_files.get((call.process, int(by_descriptor[1])))
            if open_file:
                self.link(call, self.target(call, words[2], words[3]), open_file.inode)
            return
        self.hard_link(call, self.target(call, words[0], words[1]), self.target(call, words[2], words[3]))

    def unlink(self, call, path):
        place = self.parent_of(path)
        inode = place[1].now.get(place[2]) if place else None
        if inode:
            self.add(Operation(call, place[0], 'unlink', inode, (place[1:],)))

    def on_unlink(self, call, words):
        self.unlink(call, self.target(call, None, words[0]))

    on_rmdir = on_unlink

    def on_unlinkat(self, call, words):
        self.unlink(call, self.target(call, words[0], words[1]))

    def on_mkdir(self, call, words):
        self.link(call, self.target(call, None, words[0]), Inode('directory', int(words[1], 8) & ~UMASK))

    def on_mkdirat(self, call, words):
        self.link(call, self.target(call, words[0], words[1]), Inode('directory', int(words[2], 8) & ~UMASK))

    def on_symlink(self, call, words):
        self.link(call, self.target(call, None, words[1]), Inode('link', 0o777, string_of(words[0])))

    def on_symlinkat(self, call, words):
        self.link(call, self.target(call, words[1], words[2]), Inode('link', 0o777, string_of(words[0])))

    def make_node(self, call, path, kind_and_mode):
        kind = {'S_IFIFO': stat.S_IFIFO, 'S_IFREG': 0}.get(kind_and_mode.split('|')[0])
        if kind is None:
            raise Untraceable(f'mknod of {kind_and_mode}')
        mode = int(kind_and_mode.split('|')[-1], 8)
        self.link(call, path, Inode('other', stat.S_IFIFO | mode) if kind else Inode('file', mode & ~UMASK))

    def on_mknod(self, call, words):
        self.make_node(call, self.target(call, None, words[0]), words[1])

    def on_mknodat(self, call, words):
        self.make_node(call, self.target(call, words[0], words[1]), words[2])

    # ---- Attributes

    def attribute(self, call, found, kind, data):
        disk, inode = found
        if inode:
            self.add(Operation(call, disk, kind, inode, data=data))

    def of_descriptor(self, call, argument):
        open_file = self.open_file(call.process, argument)
        return (open_file.disk, open_file.inode) if open_file else (None, None)

    def of_path(self, call, at, path):
        return self.inode_at(self.target(call, at, path))

    def on_fchmod(self, call, words):
        self.attribute(call, self.of_descriptor(call, words[0]), 'mode', int(words[1], 8))

    def on_chmod(self, call, words):
        self.attribute(call, self.of_path(call, None, words[0]), 'mode', int(words[1], 8))

    def on_fchmodat(self, call, words):
        self.attribute(call, self.of_path(call, words[0], words[1]), 'mode', int(words[2], 8))

    def on_utimensat(self, call, words):
        found = self.of_descriptor(call, words[0]) if words[1] == 'NULL' else self.of_path(call, words[0], words[1])
        pairs = split_arguments(words[2].strip('[]')) if words[2] != 'NULL' else ['UTIME_NOW', 'UTIME_NOW']
        if 'UTIME_OMIT' in pairs[1]:
            return
        value = re.search(r'tv_sec=(-?\d+), tv_nsec=(\d+)', pairs[1])
        self.attribute(call, found, 'times', int(value[1]) * 10**9 + int(value[2]) if value else call.time)

    def on_fsetxattr(self, call, words):
        self.attribute(call, self.of_descriptor(call, words[0]), 'xattr', (string_of(words[1]), string_of(words[2])))

    def on_setxattr(self, call, words):
        self.attribute(call, self.of_path(call, None, words[0]), 'xattr', (string_of(words[1]), string_of(words[2])))

    def on_fremovexattr(self, call, words):
        self.attribute(call, self.of_descriptor(call, words[0]), 'xattr', (string_of(words[1]), None))

    def on_removexattr(self, call, words):
        self.attribute(call, self.of_path(call, None, words[0]), 'xattr', (string_of(words[1]), None))

    on_lsetxattr, on_lremovexattr = on_setxattr, on_removexattr

    def on_statx(self, call, words):
        born = re.search(r'stx_btime=\{tv_sec=(\d+), tv_nsec=(\d+)\}', call.arguments)
        if born:
            _, inode = self.of_path(call, words[0], words[1])
            if inode:
                inode.birth = b'%d.%09d' % (int(born[1]), int(born[2]))

    # ---- Syncs

    def on_fsync(self, call, words):
        disk, inode = self.of_descriptor(call, words[0])
        if inode:
            self.syncs.append(Sync(call, call.name, disk, inode))

    on_fdatasync = on_fsync

    def on_syncfs(self, call, words):
        disk, _ = self.of_descriptor(call, words[0])
        if disk:
            self.syncs.append(Sync(call, 'syncfs', disk))

    def on_sync(self, call, words):
        for disk in self.roots:
            self.syncs.append(Sync(call, 'syncfs', disk))

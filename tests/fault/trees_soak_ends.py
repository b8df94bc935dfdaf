# SPDX-License-Identifier: Apache-2.0
"""The two directories of trees_soak, and those who meddle with them: every deed is noted before it is done."""
import collections
import mmap
import os
import shutil
import stat
import struct
import time

BLOCK = 4096
ZEROS = bytes(BLOCK)
OF_TARGET = 1 << 62  # numbers of what the target's meddler writes
NAMES = [f'{directory}{name}' for directory in ('', 'd1/', 'd2/') for name in 'abcdef']
LARGE = ('a', 'd1/b')  # these have more than one leaf
STORED = struct.Struct('<Q')
STORED_AT = 16


def block_of(number, version, stored=0):
    """Only the third word changes by a store through a map; a reader who sees half a block finds two versions."""
    return struct.pack('<QQQQ', number, version, stored, 0) + struct.pack('<QQ', number, version) * 254


def term(index, number, version, stored):
    return hash((index, number, version, stored)) & (1 << 64) - 1


def state_of(content):
    """(size, sum of the blocks, None for a block that is none) and the number of the file."""
    total, found = 0, 0
    for index in range(0, len(content), BLOCK):
        block = content[index:index + BLOCK]
        if block == ZEROS[:len(block)]:
            continue
        if len(block) < BLOCK:
            return (len(content), None), found
        number, version, stored, _ = struct.unpack_from('<QQQQ', block)
        if block != block_of(number, version, stored):
            return (len(content), None), found
        found = found or number
        total ^= term(index // BLOCK, number, version, stored)
    return (len(content), total), found


def read_state(path):
    # It may be a FIFO by now, whose open(2) would wait for a writer.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), 'rb') as file:
        return state_of(file.read())


def kind_of(path):
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return 'nothing', None
    if stat.S_ISLNK(mode):
        return 'link', os.readlink(path)
    if stat.S_ISDIR(mode):
        return 'directory', None
    return ('fifo', None) if stat.S_ISFIFO(mode) else ('file', None)


def canonical(path):
    """d3 is what d1 is called at times: who has it open does not know."""
    return 'd1' + path[2:] if path.split('/')[0] == 'd3' else path


class Maps:
    """Maps that are held, with what they are of."""

    def __init__(self):
        self.held = {}

    def hold(self, what, path):
        with open(path, 'r+b') as file:
            if os.fstat(file.fileno()).st_size:
                self.held[what] = mmap.mmap(file.fileno(), 0)
        while len(self.held) > 5:
            self.drop(next(iter(self.held)))

    def drop(self, what):
        if what in self.held:
            self.held.pop(what).close()

    def close(self):
        while self.held:
            self.drop(next(iter(self.held)))


class File:
    """A file of the source, by whatever names; `seen` has its states and when each was the last time."""

    def __init__(self, number):
        self.number, self.blocks, self.seen = number, [], {(0, 0): float('inf')}

    def state(self):
        total = 0
        for index, block in enumerate(self.blocks):
            if block:
                total ^= term(index, self.number, *block)
        return len(self.blocks) * BLOCK, total

    def content(self):
        return b''.join(block_of(self.number, *block) if block else ZEROS for block in self.blocks)


class Source:
    """The tree that is sent, and a model of it. Threads: one at a time."""

    deeds = collections.Counter()

    def __init__(self, root, rng):
        self.root, self.rng, self.maps = root, rng, Maps()
        self.files, self.names, self.stood = {}, {}, collections.defaultdict(dict)
        self.now, self.version = 0, 0
        self.d1 = 'd1'
        self.outside = root + '.new'
        for directory in ('', 'd1', 'd2'):
            os.mkdir(self.at(directory))
            if directory:
                self.stood[directory][('directory', None)] = 0
        for name in NAMES[::2]:
            self.replace(name)

    def at(self, path):
        return os.path.join(self.root, self.d1 + path[2:] if path.split('/')[0] == 'd1' else path)

    def tick(self):
        self.now += 1
        return self.now

    def note_name(self, path, kind, what=None):
        self.stood[path].setdefault((kind, what), self.tick())

    def note_state(self, file, blocks):
        """Before the deed: the old state ends, the new one begins."""
        file.seen[file.state()] = self.tick()
        file.blocks = blocks
        file.seen[file.state()] = float('inf')

    def fresh_block(self):
        self.version += 1
        return self.version, 0

    def new_file(self, count):
        file = File(self.tick())
        self.files[file.number] = file
        self.note_state(file, [self.fresh_block() for _ in range(count)])
        return file

    def length_for(self, path):
        return 300 if path in LARGE else self.rng.randrange(0, 9)

    def regular(self):
        found = [path for path, what in self.names.items() if isinstance(what, File)]
        return self.rng.choice(found) if found else None

    # ---- Deeds

    def replace(self, path=None):
        path = path or self.rng.choice(NAMES)
        file = self.new_file(self.length_for(path))
        with open(self.outside, 'wb') as out:
            out.write(file.content())
        self.note_name(path, 'file', file.number)
        self.make_room(path)
        os.rename(self.outside, self.at(path))
        self.names[path] = file

    def make_room(self, path):
        if self.names.get(path) == 'directory':
            os.rmdir(self.at(path))
            del self.names[path]

    def two_names_at_once(self):
        """As the inode of what goes is given to the next: remove, and make a file with two names."""
        one, other = self.rng.sample(NAMES, 2)
        self.remove(one)
        self.remove(other)
        file, count = self.new_file(0), self.rng.randrange(1, 4)
        for path in (one, other):
            self.note_name(path, 'file', file.number)
        with open(self.at(one), 'wb', buffering=0) as out:
            self.write_blocks(file, count, out)
        os.link(self.at(one), self.at(other))
        self.names[one] = self.names[other] = file

    def rename(self):
        path, to = self.regular(), self.rng.choice(NAMES)
        if path and path != to and self.names.get(to) is not self.names[path]:
            self.make_room(to)
            self.note_name(to, 'file', self.names[path].number)
            os.rename(self.at(path), self.at(to))
            self.names[to] = self.names.pop(path)

    def link(self):
        path, to = self.regular(), self.rng.choice(NAMES)
        if path and path != to and self.names.get(to) is not self.names[path]:
            self.make_room(to)
            self.note_name(to, 'file', self.names[path].number)
            os.link(self.at(path), self.outside)
            os.rename(self.outside, self.at(to))
            self.names[to] = self.names[path]

    def link_for_a_moment(self):
        path = self.regular()
        if path:
            os.link(self.at(path), self.outside)
            os.unlink(self.outside)

    def edit(self, back=False):
        path = self.regular()
        if not path or not self.names[path].blocks:
            return
        file, before = self.names[path], os.stat(self.at(path))
        index = self.rng.randrange(len(file.blocks))
        self.note_state(file, file.blocks[:index] + [self.fresh_block()] + file.blocks[index + 1:])
        with open(self.at(path), 'r+b', buffering=0) as out:
            os.pwrite(out.fileno(), block_of(file.number, *file.blocks[index]), index * BLOCK)
        if back:
            os.utime(self.at(path), ns=(before.st_atime_ns, before.st_mtime_ns))

    def edit_and_set_the_time_back(self):
        self.edit(back=True)

    def store(self):
        path = self.regular()
        if path and self.names[path].number not in self.maps.held and self.rng.random() < 0.5:
            self.maps.hold(self.names[path].number, self.at(path))
        if not self.maps.held:
            return
        number = self.rng.choice(list(self.maps.held))
        file = self.files[number]
        index = self.rng.randrange(len(file.blocks))
        if not file.blocks[index]:
            return
        self.version += 1
        blocks = list(file.blocks)
        blocks[index] = (blocks[index][0], self.version)
        self.note_state(file, blocks)
        STORED.pack_into(self.maps.held[number], index * BLOCK + STORED_AT, self.version)

    def truncate(self):
        path = self.regular()
        if path:
            file = self.names[path]
            count = self.rng.randrange(len(file.blocks) + 3)
            self.maps.drop(file.number)
            self.note_state(file, (file.blocks + [None] * 3)[:count])
            os.truncate(self.at(path), count * BLOCK)

    def rewrite(self):
        """As `>` of a shell: empty, then block by block."""
        path = self.regular()
        if not path:
            return
        file, count = self.names[path], self.rng.randrange(6)
        self.maps.drop(file.number)
        self.note_state(file, [])
        with open(self.at(path), 'wb', buffering=0) as out:
            self.write_blocks(file, count, out)

    def write_blocks(self, file, count, out):
        for index in range(count):
            self.note_state(file, file.blocks + [self.fresh_block()])
            out.write(block_of(file.number, *file.blocks[index]))

    def remove(self, path=None):
        path = path or self.rng.choice(NAMES)
        what = self.names.pop(path, None)
        if what == 'directory':
            os.rmdir(self.at(path))
        elif what:
            os.unlink(self.at(path))

    def other_kind(self):
        path, kind = self.rng.choice(NAMES), self.rng.choice(['link', 'fifo', 'directory'])
        self.remove(path)
        what = f'to {self.tick()}' if kind == 'link' else None
        self.note_name(path, kind, what)
        if kind == 'link':
            os.symlink(what, self.at(path))
        elif kind == 'fifo':
            os.mkfifo(self.at(path), 0o640)
        else:
            os.mkdir(self.at(path))
        self.names[path] = kind

    def rename_directory(self):
        before = self.at('d1')
        self.d1 = 'd3' if self.d1 == 'd1' else 'd1'
        os.rename(before, self.at('d1'))

    def meddle(self, stop, pause):
        every = [self.replace, self.two_names_at_once, self.rename, self.rename, self.link, self.link_for_a_moment,
                 self.edit, self.edit, self.edit_and_set_the_time_back, self.store, self.store, self.truncate,
                 self.rewrite, self.remove, self.other_kind, self.rename_directory]
        chosen = every if self.rng.random() < 0.5 else self.rng.sample(every, 4)
        while not stop.is_set():
            deed = self.rng.choice(chosen)
            Source.deeds[deed.__name__] += 1
            deed()
            time.sleep(pause)

    def deceive(self):
        for deed in (self.store, self.store, self.edit_and_set_the_time_back, self.store, self.link_for_a_moment):
            deed()

    def close(self):
        self.maps.close()


class Target:
    """The tree that comes. What others put there is looked at before it is touched. Threads: one at a time."""

    deeds = collections.Counter()

    def __init__(self, root, rng):
        self.root, self.rng, self.maps = root, rng, Maps()
        self.made, self.moved, self.kinds = {(0, 0)}, collections.defaultdict(set), set()
        self.number, self.known = OF_TARGET, set()

    def files(self):
        """What is there now; it may be gone when it is looked at."""
        found = []
        for directory in ('', 'd1', 'd2', 'd3'):
            try:
                with os.scandir(os.path.join(self.root, directory)) as entries:
                    found += [os.path.join(directory, entry.name) for entry in entries
                              if entry.is_file(follow_symlinks=False)]
            except (FileNotFoundError, NotADirectoryError):
                pass
        return found

    def pick(self):
        found = self.files()
        return self.rng.choice(found) if found else None

    def at(self, path):
        return os.path.join(self.root, path)

    def open(self, path):
        return os.fdopen(os.open(self.at(path), os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK), 'r+b', buffering=0)

    def fresh(self):
        self.number += 1
        return block_of(self.number, self.number)

    # ---- Deeds

    def edit(self, path=None, back=False):
        path = path or self.pick()
        if not path:
            return
        with self.open(path) as file:
            content = bytearray(file.read() or b'')
            before = os.fstat(file.fileno())
            if not content:
                return
            index = self.rng.randrange(len(content) // BLOCK) * BLOCK
            content[index:index + BLOCK] = self.fresh()
            self.made.add(state_of(bytes(content))[0])
            os.pwrite(file.fileno(), content[index:index + BLOCK], index)
            if back:
                os.utime(file.fileno(), ns=(before.st_atime_ns, before.st_mtime_ns))

    def edit_and_set_the_time_back(self):
        self.edit(back=True)

    def pounce(self):
        """Changes whatever has appeared since it looked last."""
        for path in self.files():
            inode = os.lstat(self.at(path)).st_ino
            if inode not in self.known:
                self.known.add(inode)
                self.edit(path, back=self.rng.random() < 0.3)

    def store(self):
        path = self.pick()
        if path and self.rng.random() < 0.5:
            self.number += 1
            self.maps.hold(self.number, self.at(path))
        if not self.maps.held:
            return
        held = self.maps.held[self.rng.choice(list(self.maps.held))]
        content = bytearray(held[:])
        index = self.rng.randrange(len(content) // BLOCK) * BLOCK
        if content[index:index + BLOCK] == ZEROS:
            return
        self.number += 1
        STORED.pack_into(content, index + STORED_AT, self.number)
        self.made.add(state_of(bytes(content))[0])
        STORED.pack_into(held, index + STORED_AT, self.number)

    def truncate(self):
        path = self.pick()
        if path:
            with self.open(path) as file:
                content = file.read() or b''
                length = self.rng.randrange(len(content) // BLOCK + 1) * BLOCK
                self.maps.close()
                self.made.add(state_of(content[:length])[0])
                os.ftruncate(file.fileno(), length)

    def put(self, deed):
        """A deed that gives a name what another has: noted by what stands there afterwards, and what stood before."""
        path, to = self.pick(), self.rng.choice(NAMES)
        if not path or path == to:
            return
        for place in (path, None, to):
            if place:
                self.moved[canonical(to)].add(read_state(self.at(place))[0])
            else:
                deed(self.at(path), self.at(to))

    def rename(self):
        self.put(os.rename)

    def link(self):
        def through(path, to):
            os.link(path, self.root + '.link')
            os.rename(self.root + '.link', to)
        self.put(through)

    def replace(self):
        path = self.rng.choice(NAMES)
        content = b''.join(self.fresh() for _ in range(self.rng.randrange(4)))
        self.made.add(state_of(content)[0])
        with open(self.root + '.new', 'wb') as file:
            file.write(content)
        os.rename(self.root + '.new', self.at(path))

    def remove(self):
        path = self.rng.choice(NAMES)
        os.unlink(self.at(path))

    def other_kind(self):
        path, kind = self.rng.choice(NAMES), self.rng.choice(['link', 'fifo', 'directory'])
        what = '../../nowhere' if kind == 'link' else None
        self.kinds.add((path, kind, what))
        os.unlink(self.at(path))
        if kind == 'link':
            os.symlink(what, self.at(path))
        elif kind == 'fifo':
            os.mkfifo(self.at(path), 0o640)
        else:
            os.mkdir(self.at(path))

    def try_to(self, deed):
        Target.deeds['at the target: ' + deed.__name__] += 1
        try:
            deed()
        except OSError:
            pass  # it was gone, or of another kind, by the time of the deed

    def meddle(self, stop, pause):
        every = [self.edit, self.edit_and_set_the_time_back, self.pounce, self.store, self.truncate, self.rename,
                 self.link, self.replace, self.remove, self.other_kind]
        chosen = self.rng.choice([every, [self.pounce], [self.pounce, self.store], self.rng.sample(every, 3)])
        while not stop.is_set():
            self.try_to(self.rng.choice(chosen))
            time.sleep(pause)

    def deceive(self):
        for deed in (self.store, self.store, self.edit_and_set_the_time_back):
            self.try_to(deed)

    def make_way_for(self, source):
        """Takes away what the source's names cannot replace."""
        for directory, directories, _ in os.walk(self.root):
            for name in list(directories):
                place = os.path.join(directory, name)
                path = os.path.relpath(place, self.root)
                if kind_of(os.path.join(source.root, path))[0] not in ('directory', 'nothing'):
                    shutil.rmtree(place)
                    directories.remove(name)
        for path in ['d2', source.d1] + [path for path, what in source.names.items() if what == 'directory']:
            place = self.at(source.d1 + path[2:] if path.startswith('d1/') else path)
            if kind_of(place)[0] not in ('directory', 'nothing'):
                os.unlink(place)

    def close(self):
        self.maps.close()

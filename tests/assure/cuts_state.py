# SPDX-License-Identifier: Apache-2.0
"""What a disk can have after a power cut, by two sets of rules.

Both: a call that ended before a sync began, and that the sync covers, is kept from the end of the sync on. rename(2) is
atomic. syncfs(2) and sync(2) cover all of a disk; sync_file_range(2) covers nothing, as its manual page says.

`ext4`, as ext4 with data=ordered, delayed allocation and auto_da_alloc does, which are its defaults:
- Names, attributes, truncations and holes that are punched are in one journal: a cut keeps all up to some point, and
  none behind it.  source: Pillai et al., "All File Systems Are Not Created Equal" (ALICE), OSDI 2014, table 1; the
  kernel's Documentation/filesystems/ext4/journal.rst
- fsync(2) of a file or directory commits the journal up to the last change of that inode, so that a new file has its
  name, and what was done to other names before is kept, too. fdatasync(2) commits it up to the last change of the
  file's size or blocks.  source: ext4_fsync_journal() in fs/ext4/fsync.c, i_sync_tid and i_datasync_tid
- Data come any time later, page by page. A page that is new on the disk has a transaction, behind all operations before
  the write; so it is lost with them. A file ends with the last page that came, but within a block that was there before
  its size may come without its bytes, which are then zero. There is never anybody else's old data.
  source: Documentation/admin-guide/ext4.rst, data=ordered, delalloc
- What rename(2) puts over another file has its data before.  source: the same, auto_da_alloc

`posix`, which promises no more than the standard, and is ALICE's:
- Each change of a name is kept or lost by itself. fsync(2) of a directory covers the changes of names in it, either of
  the two covers a rename from one into the other, and that of a file covers no name.
- Of an inode without a sync the size and the attributes of any moment may be there; each page may be as it was, as it
  became, zero, or garbage.
"""
import hashlib

from cuts_history import ATTRIBUTES, CONTENT, NAMING, apply_to

PAGE = 4096                              # spec: the smallest unit of the page cache
GARBAGE = b'\xa5' * PAGE
NEVER = float('inf')
MODES = ('ext4', 'posix')


class Node:
    """What stands at a name after a cut."""

    def __init__(self, inode, content=None):
        self.inode, self.kind, self.content = inode, inode.kind, content
        self.mode, self.times, self.xattrs = inode.mode, None, {}

    def summary(self):
        content = hashlib.sha256(self.content).hexdigest() if self.content is not None else ''
        return self.kind, content, self.mode, self.times, tuple(sorted(self.xattrs.items()))


def is_in(operation, directory):
    return any(each is directory for each, _ in operation.places)


def durable_lines(history, mode):
    """For each operation the line from which on no cut can lose it."""
    lines = [NEVER] * len(history.operations)

    def keep(operation, sync):
        lines[operation.number] = min(lines[operation.number], sync.end)

    for sync in history.syncs:
        before = [operation for operation in history.operations
                  if operation.disk == sync.disk and operation.end < sync.begin]
        if sync.kind == 'syncfs':
            covered = before
        elif mode == 'ext4':
            data_only = sync.kind == 'fdatasync'
            own = [operation for operation in before if operation.inode is sync.inode or is_in(operation, sync.inode)]
            dated = [operation for operation in own if operation.kind in CONTENT + ('link',)] if data_only else own
            last = dated[-1].number if dated else -1
            covered = [operation for operation in before if operation.kind != 'write' and operation.number <= last]
            covered += [operation for operation in own if operation.kind == 'write']
        else:
            kinds = CONTENT if sync.kind == 'fdatasync' else CONTENT + ATTRIBUTES
            covered = [operation for operation in before
                       if (operation.kind in kinds and operation.inode is sync.inode) or is_in(operation, sync.inode)]
        for operation in covered:
            keep(operation, sync)
    return lines


class Cut:
    """A disk at the moment behind a line of the trace, with dice that say what of it was lost.

    `policy` is what becomes of operations that nothing has synced: `all` or `none` are kept, `one` alone is lost, `but
    one` are lost, or it is `random`.
    """

    POLICIES = ('none', 'all', 'one', 'but one', 'random', 'random', 'random')

    def __init__(self, history, durable, disk, line, mode, policy, rng):
        self.mode, self.rng, self.line = mode, rng, line
        self.operations = [operation for operation in history.operations
                           if operation.disk == disk and operation.end <= line]
        self.synced = {operation.number for operation in self.operations if durable[operation.number] <= line}
        self.root = history.roots[disk]
        unsynced = [operation for operation in self.operations if operation.number not in self.synced]
        chosen = rng.choice(unsynced).number if unsynced and rng else None
        if policy == 'none' or not unsynced:
            self.kept = set(self.synced)
        elif policy == 'all':
            self.kept = {operation.number for operation in self.operations}
        elif policy == 'one':
            self.kept = {operation.number for operation in self.operations if operation.number != chosen}
        elif policy == 'but one':
            self.kept = self.synced | {chosen}
        else:
            self.kept = self.synced | {operation.number for operation in unsynced if rng.random() < 0.5}
        if mode == 'ext4':
            self.keep_journal_prefix(policy, unsynced, chosen)
        self.may_tear = policy not in ('all', 'none')
        self.notes = []

    def keep_journal_prefix(self, policy, unsynced, chosen):
        """Of the journal, in the place of what the dice have said of each operation."""
        journal = [operation for operation in self.operations if operation.kind != 'write']
        least = max((operation.number for operation in journal if operation.number in self.synced), default=-1)
        last = self.operations[-1].number if self.operations else -1
        point = {'none': least, 'all': last}.get(policy)
        if point is None:
            points = [least] + [operation.number for operation in unsynced if operation.number > least]
            point = self.rng.choice(points + [last])
        self.kept = {number for number in self.kept if number <= point} | self.synced
        self.kept |= {operation.number for operation in journal if operation.number <= point}
        for operation in journal:
            is_kept = operation.number <= point
            if operation.kind == 'rename' and is_kept and operation.over and operation.inode.kind == 'file':
                flushed = {each.number for each in operation.inode.operations
                           if each.kind == 'write' and each.number < operation.number}
                self.kept |= flushed
                self.synced |= flushed

    def lost(self):
        """In words; those of content once the tree was asked for."""
        return [str(operation) for operation in self.operations if operation.number not in self.kept] + self.notes

    # ---- What is there

    def entries(self, directory):
        names = dict(directory.start)
        for operation in directory.operations:
            if operation.kind not in NAMING or operation.number not in self.kept:
                continue
            if operation.kind in ('unlink', 'rename') and operation.places[0][0] is directory:
                names.pop(operation.places[0][1], None)
            if operation.kind in ('link', 'rename') and operation.places[-1][0] is directory:
                names[operation.places[-1][1]] = operation.inode
        return names

    def tree(self):
        """Nodes by path; one inode is one node."""
        nodes, found = {}, {}

        def walk(directory, path):
            for name, inode in sorted(self.entries(directory).items()):
                node = nodes.get(id(inode)) or self.node_of(inode)
                nodes[id(inode)] = node
                found[path + name] = node
                if inode.kind == 'directory' and path.count(b'/') < 20:
                    walk(inode, path + name + b'/')
        walk(self.root, b'')
        return found

    def node_of(self, inode):
        last = self.operations[-1].number if self.operations else -1
        own = [operation for operation in inode.operations if operation.number <= last]
        node = Node(inode, self.content_of(inode, own) if inode.kind == 'file' else
                    inode.start if inode.kind == 'link' else None)
        node.times, node.xattrs = inode.times, dict(inode.xattrs)
        for operation in own:
            if operation.kind in CONTENT:
                node.times = None
            if operation.kind not in ATTRIBUTES or operation.number not in self.kept:
                continue
            if operation.kind == 'mode':
                node.mode = operation.data
            elif operation.kind == 'times':
                node.times = operation.data
            elif operation.data[1] is None:
                node.xattrs.pop(operation.data[0], None)
            else:
                node.xattrs[operation.data[0]] = operation.data[1]
        return node

    def content_of(self, inode, own):
        operations = [operation for operation in own if operation.kind in CONTENT]
        if all(operation.number in self.kept for operation in operations) and not self.may_tear:
            return self.content_by(inode, operations)
        if self.mode == 'ext4':
            operations = [operation for operation in operations
                          if operation.kind == 'write' or operation.number in self.kept]
        if all(operation.number in self.synced for operation in operations):
            return self.content_by(inode, operations)
        before = self.content_by(inode, [operation for operation in operations if operation.number in self.synced or
                                         (self.mode == 'ext4' and operation.kind != 'write')])
        kept_operations = [operation for operation in operations if operation.number in self.kept]
        after = self.content_by(inode, kept_operations)
        if not self.may_tear or before == after:
            return after
        unsynced = [operation for operation in kept_operations if operation.number not in self.synced]
        content = self.content_after_cut(before, after, unsynced)
        if content != after:
            self.notes.append(f'of {unsynced[-1]} and those before: there are {len(content)} bytes, '
                              f'{sum(a != b for a, b in zip(content, after))} of them other ones')
        return content

    @staticmethod
    def content_by(inode, operations):
        content = bytearray(inode.start)
        for operation in operations:
            apply_to(content, operation)
        return bytes(content)

    def content_after_cut(self, before, after, unsynced):
        """Pages of two versions, all of the one or of the other as well."""
        if self.rng.random() < 0.3:
            return after
        mixed, end = self.pages_after_cut(before, after, unsynced)
        if self.mode == 'ext4':
            return bytes(mixed[:self.size_after_cut_ext4(before, after, end)])
        size = self.size_after_cut_posix(before, after)
        return bytes(mixed[:size].ljust(size, b'\0'))

    def pages_after_cut(self, before, after, unsynced):
        """Bytes of `after`, with pages of `before`; and the end of the last page that is kept."""
        mixed = bytearray(after)
        pages = sorted({page for operation in unsynced if operation.kind == 'write'
                        for page in range(operation.at // PAGE, (operation.at + len(operation.data) - 1) // PAGE + 1)})
        is_lost = self.rng.choice([lambda: True, lambda: False, lambda: self.rng.random() < 0.5])
        end = min(len(before), len(after)) if self.mode == 'ext4' else 0
        for page in pages:
            begin, stop = page * PAGE, min((page + 1) * PAGE, len(after))
            if begin >= stop:
                continue
            if not is_lost():
                end = max(end, stop)
                continue
            old = before[begin:stop].ljust(stop - begin, b'\0')
            if self.mode == 'posix':
                old = self.rng.choice([old, old, bytes(stop - begin), GARBAGE[:stop - begin]])
            mixed[begin:stop] = old
        return mixed, end

    def size_after_cut_ext4(self, before, after, end):
        """The end of what came; or of its block, where that was there before."""
        partly = len(before) % PAGE and len(before) // PAGE == end // PAGE and self.rng.random() < 0.5
        return min(len(after), (end // PAGE + 1) * PAGE) if partly else max(end, min(len(before), len(after)))

    def size_after_cut_posix(self, before, after):
        return self.rng.choice([len(after), len(after), len(before), self.rng.randrange(len(after) + 1)])


def whole_tree(history, disk):
    """As a process sees it at the end of the recording."""
    return Cut(history, [NEVER] * len(history.operations), disk, NEVER, 'posix', 'all', None).tree()


def digest_of(trees):
    """Equal for states that no process can tell from each other."""
    digest = hashlib.sha256()
    for disk, tree in sorted(trees.items()):
        seen = {}
        for path, node in sorted(tree.items()):
            number = seen.setdefault(id(node), len(seen))
            digest.update(repr((disk, path, number, node.summary())).encode())
    return digest.hexdigest()


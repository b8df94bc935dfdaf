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
- Data come any time later, page by page. A page that is new on the disk has a transaction, behind all steps before the
  write; so it is lost with them. A file ends with the last page that came, but within a block that was there before its
  size may come without its bytes, which are then zero. There is never anybody else's old data.
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


def is_in(step, directory):
    return any(each is directory for each, _ in step.places)


def durable_lines(history, mode):
    """For each step the line from which on no cut can lose it."""
    lines = [NEVER] * len(history.steps)

    def keep(step, sync):
        lines[step.number] = min(lines[step.number], sync.end)

    for sync in history.syncs:
        before = [step for step in history.steps if step.disk == sync.disk and step.end < sync.begin]
        if sync.kind == 'syncfs':
            covered = before
        elif mode == 'ext4':
            data_only = sync.kind == 'fdatasync'
            own = [step for step in before if step.inode is sync.inode or is_in(step, sync.inode)]
            dated = [step for step in own if step.kind in CONTENT + ('enter',)] if data_only else own
            last = dated[-1].number if dated else -1
            covered = [step for step in before if step.kind != 'write' and step.number <= last]
            covered += [step for step in own if step.kind == 'write']
        else:
            kinds = CONTENT if sync.kind == 'fdatasync' else CONTENT + ATTRIBUTES
            covered = [step for step in before
                       if (step.kind in kinds and step.inode is sync.inode) or is_in(step, sync.inode)]
        for step in covered:
            keep(step, sync)
    return lines


class Cut:
    """A disk at the moment behind a line of the trace, with dice that say what of it was lost.

    `policy` is what becomes of steps that nothing has synced: `all` or `none` are kept, `one` alone is lost, `but one`
    are lost, or it is `random`.
    """

    POLICIES = ('none', 'all', 'one', 'but one', 'random', 'random', 'random')

    def __init__(self, history, durable, disk, line, mode, policy, rng):
        self.mode, self.rng, self.line = mode, rng, line
        self.steps = [step for step in history.steps if step.disk == disk and step.end <= line]
        self.synced = {step.number for step in self.steps if durable[step.number] <= line}
        self.root = history.roots[disk]
        loose = [step for step in self.steps if step.number not in self.synced]
        chosen = rng.choice(loose).number if loose and rng else None
        if policy == 'none' or not loose:
            self.kept = set(self.synced)
        elif policy == 'all':
            self.kept = {step.number for step in self.steps}
        elif policy == 'one':
            self.kept = {step.number for step in self.steps if step.number != chosen}
        elif policy == 'but one':
            self.kept = self.synced | {chosen}
        else:
            self.kept = self.synced | {step.number for step in loose if rng.random() < 0.5}
        if mode == 'ext4':
            self.keep_a_beginning(policy, loose, chosen)
        self.rough = policy not in ('all', 'none')
        self.notes = []

    def keep_a_beginning(self, policy, loose, chosen):
        """Of the journal, in the place of what the dice have said of each step."""
        journal = [step for step in self.steps if step.kind != 'write']
        least = max((step.number for step in journal if step.number in self.synced), default=-1)
        last = self.steps[-1].number if self.steps else -1
        point = {'none': least, 'all': last}.get(policy)
        if point is None:
            points = [least] + [step.number for step in loose if step.number > least]
            point = self.rng.choice(points + [last])
        self.kept = {number for number in self.kept if number <= point} | self.synced
        self.kept |= {step.number for step in journal if step.number <= point}
        for step in journal:
            if step.kind == 'move' and step.number <= point and step.over and step.inode.kind == 'file':
                flushed = {each.number for each in step.inode.steps
                           if each.kind == 'write' and each.number < step.number}
                self.kept |= flushed
                self.synced |= flushed

    def lost(self):
        """In words; those of content once the tree was asked for."""
        return [str(step) for step in self.steps if step.number not in self.kept] + self.notes

    # ---- What is there

    def entries(self, directory):
        names = dict(directory.start)
        for step in directory.steps:
            if step.kind not in NAMING or step.number not in self.kept:
                continue
            if step.kind in ('remove', 'move') and step.places[0][0] is directory:
                names.pop(step.places[0][1], None)
            if step.kind in ('enter', 'move') and step.places[-1][0] is directory:
                names[step.places[-1][1]] = step.inode
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
        own = [step for step in inode.steps if step.number <= (self.steps[-1].number if self.steps else -1)]
        node = Node(inode, self.content_of(inode, own) if inode.kind == 'file' else
                    inode.start if inode.kind == 'link' else None)
        node.times, node.xattrs = inode.times, dict(inode.xattrs)
        for step in own:
            if step.kind in CONTENT:
                node.times = None
            if step.kind not in ATTRIBUTES or step.number not in self.kept:
                continue
            if step.kind == 'mode':
                node.mode = step.data
            elif step.kind == 'times':
                node.times = step.data
            elif step.data[1] is None:
                node.xattrs.pop(step.data[0], None)
            else:
                node.xattrs[step.data[0]] = step.data[1]
        return node

    def content_of(self, inode, own):
        steps = [step for step in own if step.kind in CONTENT]
        if all(step.number in self.kept for step in steps) and not self.rough:
            return self.content_by(inode, steps)
        if self.mode == 'ext4':
            steps = [step for step in steps if step.kind == 'write' or step.number in self.kept]
        if all(step.number in self.synced for step in steps):
            return self.content_by(inode, steps)
        before = self.content_by(inode, [step for step in steps if step.number in self.synced or
                                         (self.mode == 'ext4' and step.kind != 'write')])
        steps_kept = [step for step in steps if step.number in self.kept]
        after = self.content_by(inode, steps_kept)
        if not self.rough or before == after:
            return after
        loose = [step for step in steps_kept if step.number not in self.synced]
        content = self.mixed(before, after, loose)
        if content != after:
            self.notes.append(f'of {loose[-1]} and those before: there are {len(content)} bytes, '
                              f'{sum(a != b for a, b in zip(content, after))} of them other ones')
        return content

    @staticmethod
    def content_by(inode, steps):
        content = bytearray(inode.start)
        for step in steps:
            apply_to(content, step)
        return bytes(content)

    def mixed(self, before, after, loose):
        """Pages of two versions, all of the one or of the other as well."""
        dice = self.rng.random()
        if dice < 0.3:
            return after
        mixed = bytearray(after)
        pages = sorted({page for step in loose if step.kind == 'write'
                        for page in range(step.at // PAGE, (step.at + len(step.data) - 1) // PAGE + 1)})
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
        if self.mode == 'ext4':
            partly = len(before) % PAGE and len(before) // PAGE == end // PAGE and self.rng.random() < 0.5
            size = min(len(after), (end // PAGE + 1) * PAGE) if partly else max(end, min(len(before), len(after)))
        else:
            size = self.rng.choice([len(after), len(after), len(before), self.rng.randrange(len(after) + 1)])
        if size > len(mixed):
            return bytes(mixed.ljust(size, b'\0')) if self.mode == 'posix' else bytes(mixed)
        return bytes(mixed[:size])


def whole_tree(history, disk):
    """As a process sees it at the end of the recording."""
    return Cut(history, [NEVER] * len(history.steps), disk, NEVER, 'posix', 'all', None).tree()


def digest_of(trees):
    """Equal for states that no process can tell from each other."""
    digest = hashlib.sha256()
    for disk, tree in sorted(trees.items()):
        seen = {}
        for path, node in sorted(tree.items()):
            number = seen.setdefault(id(node), len(seen))
            digest.update(repr((disk, path, number, node.summary())).encode())
    return digest.hexdigest()


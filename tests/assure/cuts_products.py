# SPDX-License-Identifier: Apache-2.0
"""Commands that keep something on a disk, and what they owe after a power cut."""
import hashlib
import os
import signal
import subprocess

from cuts_stage import Seen, content_for, look, write_file

OLD_TIME = 1_600_000_000_123_456_789
NEW_TIME = 1_700_000_000_987_654_321
MIB = 1 << 20


class Product:
    """`targets` are names that the command makes new: by (disk, path) what was there, and what is owed. All others
    that were there stay as they were; below `caches` there may be anything that the command can do with."""

    caches = ('home/.cache',)

    def __init__(self):
        self.targets = {}

    # ---- Before the recording

    def make_keys(self, program, keys):
        with open(os.open(os.path.join(keys, 'key'), os.O_CREAT | os.O_WRONLY, 0o600), 'wb') as file:
            file.write(subprocess.run([program, 'keygen'], check=True, capture_output=True).stdout)

    def prepare(self, place):
        raise NotImplementedError

    def target(self, place, disk, path, wanted, old=None, old_mode=0o644):
        """`old` is content that stands there before."""
        if old is not None:
            write_file(os.path.join(place, disk, path), old, old_mode, OLD_TIME)
        self.targets[(disk, path)] = (Seen('file', old, old_mode) if old is not None else None, wanted)

    def expect(self, place):
        """What of the targets is known when the recording has been made."""

    # ---- The command

    def play(self, stage):
        """All that is recorded; the last is run()."""
        return self.run(stage)

    def run(self, stage):
        """The command, to its end: the exit status of each end."""
        raise NotImplementedError

    # ---- What is owed

    def normal(self, path, seen):
        """In a form in which equal things are equal."""
        return seen

    def owes(self, disk, path, acknowledged):
        """Whether a target has to be new.

        acknowledged: ends that exited with 0
        """
        return bool(acknowledged)

    def what_is_wrong(self, path, seen, wanted):
        """None: it is what is wanted."""
        if wanted is None:
            return None if seen is None else 'it is there'
        return 'it is not there' if seen is None else self.normal(path, seen).differs(wanted)

    def complaints(self, disk, found, before, acknowledged, after_rerun):
        """found, before  what is there, and was before the recording, by path
        acknowledged   ends that exited with 0
        after_rerun    the command was run again"""
        for (of, path), (old, new) in self.targets.items():
            if of != disk:
                continue
            seen = found.get(path)
            wrong = self.what_is_wrong(path, seen, new)
            if self.owes(disk, path, acknowledged):
                if wrong:
                    yield f'lost: {disk}/{path}: {", ".join(acknowledged)} told of success, and {wrong}'
                continue
            if wrong and seen and new and (seen.kind, seen.content) == (new.kind, new.content):
                # Only attributes differ: a directory gets them last, a file whose content stays gets them one at a
                # time, those of links are not promised.
                if new.kind != 'file' or (old and old.content == new.content):
                    continue
            if wrong and self.what_is_wrong(path, seen, old):
                yield f'torn: {disk}/{path}: {wrong}; nor is it what was there before'
        for path, was in before.items():
            if (disk, path) not in self.targets and not self.is_cache(path):
                seen = found.get(path)
                wrong = 'it is gone' if seen is None else seen.differs(self.untouched(was))
                if wrong:
                    yield f'touched: {disk}/{path}: {wrong}'
        if after_rerun:
            for path in found:
                if path not in before and (disk, path) not in self.targets and not self.is_cache(path):
                    yield f'left: {disk}/{path}'

    @staticmethod
    def untouched(was):
        return Seen(was.kind, was.content, was.mode if was.kind != 'directory' else None)

    def is_cache(self, path):
        return any(path == each or path.startswith(each + '/') or each.startswith(path + '/') for each in self.caches)


def lines_of_manifest(content):
    """Its lines but the last, sorted, where the last one is right."""
    lines = content.split(b'\n')
    if len(lines) < 3 or lines[-1] or not lines[-2].startswith(b'end '):
        return content
    body = b'\n'.join(lines[:-2]) + b'\n'
    end = b'end %d %s' % (len(lines) - 3, hashlib.sha256(body).hexdigest().encode())
    return b'\n'.join(sorted(lines[:-2])) if lines[-2] == end else content


class Trees(Product):
    """A tree over an older one: files of some kinds, a link, a directory, and a manifest at both ends."""

    name = 'tree'
    big = content_for('big', 2 * MIB + 5_000, (300_000, 1_500_000))

    def prepare(self, place):
        source, there = os.path.join(place, 'near', 'tree'), os.path.join(place, 'far', 'into', 'tree')
        files = {'old': content_for('old', 9_000), 'new': content_for('new', 5_000), 'empty': b'',
                 'below/deep': content_for('deep', 70_000), 'below/same': content_for('same', 6_000), 'big': self.big,
                 'shell': content_for('shell', 100)}
        for path, content in files.items():
            write_file(os.path.join(source, path), content, 0o755 if path == 'shell' else 0o640, NEW_TIME)
        os.symlink('below/deep', os.path.join(source, 'link'))
        os.link(os.path.join(source, 'new'), os.path.join(source, 'below', 'hard-link'))
        os.utime(os.path.join(source, 'link'), ns=(NEW_TIME, NEW_TIME), follow_symlinks=False)
        os.setxattr(os.path.join(source, 'new'), b'user.of', b'new')
        for directory in ('below', ''):
            os.utime(os.path.join(source, directory), ns=(NEW_TIME, NEW_TIME))
        old = {'old': content_for('older', 9_000), 'below/same': files['below/same']}
        for path, seen in {**{f'tree/{path}': seen for path, seen in look(source).items()},
                           'tree': Seen('directory', None, 0o755, NEW_TIME)}.items():
            self.target(place, 'far', f'into/{path}', seen, old.get(path[len('tree/'):]))
        write_file(os.path.join(there, 'mine'), content_for('mine', 3_000), 0o600, OLD_TIME)
        write_file(os.path.join(place, 'far', 'into', 'other'), b'other', 0o644, OLD_TIME)
        self.prepare_manifests(place)

    def prepare_manifests(self, place):
        for disk in ('near', 'far'):
            old = b'udtcat manifest 1\n'
            old += b'end 0 ' + hashlib.sha256(old).hexdigest().encode() + b'\n'
            self.target(place, disk, 'proof', None, old)

    def expect(self, place):
        for (disk, path), (old, new) in list(self.targets.items()):
            if path == 'proof':
                with open(os.path.join(place, disk, path), 'rb') as file:
                    lines = lines_of_manifest(file.read())
                self.targets[(disk, path)] = (Seen('file', lines_of_manifest(old.content), None), Seen('file', lines))

    def normal(self, path, seen):
        if path != 'proof' or seen.kind != 'file':
            return seen
        return Seen('file', lines_of_manifest(seen.content), seen.mode)

    def owes(self, disk, path, acknowledged):
        return bool(acknowledged) if path != 'proof' else ('sender' if disk == 'near' else 'receiver') in acknowledged

    def listen(self, stage):
        stage.start('receiver', 'far', 'receive', '-v', '-l', f'127.0.0.1:{stage.port}', '-k', f'{stage.keys}/key',
                    '--once', '--manifest', 'proof', 'into')
        stage.wait_for_words('receiver', 'listening on')

    def send(self, stage, *more):
        stage.start('sender', 'near', 'send', 'tree', '127.0.0.1', str(stage.port), '-k', f'{stage.keys}/key',
                    '--manifest', 'proof', *more)

    def run(self, stage):
        self.listen(stage)
        self.send(stage)
        return {'sender': stage.wait('sender'), 'receiver': stage.wait('receiver')}


class TreesAgain(Trees):
    """The same, once cut off before."""

    name = 'tree-again'
    big = content_for('bigger', 4 * MIB + 5_000, (300_000, 1_200_000))

    def play(self, stage):
        self.listen(stage)
        self.send(stage, '--rate', '40M')
        parts = stage.at('far', 'into', '.udtcat-parts')

        def has_some():
            try:
                return any(os.lstat(os.path.join(directory, name)).st_size > MIB
                           for directory, _, files in os.walk(parts) for name in files)
            except FileNotFoundError:
                return False  # it has been put in place meanwhile
        stage.wait_until(has_some, 'no part comes', 'sender')
        stage.end('sender', signal.SIGKILL)
        stage.end('receiver', signal.SIGKILL)
        return self.run(stage)


class TreesServed(Trees):
    """The receiver asks."""

    name = 'tree-served'

    def prepare(self, place):
        super().prepare(place)
        del self.targets[('near', 'proof')]
        os.unlink(os.path.join(place, 'near', 'proof'))

    def run(self, stage):
        stage.start('sender', 'near', 'send', '-v', '--serve', '.', '-l', f'127.0.0.1:{stage.port}',
                    '-k', f'{stage.keys}/key', '--once')
        stage.wait_for_words('sender', 'listening on')
        stage.start('receiver', 'far', 'receive', 'tree', '127.0.0.1', str(stage.port), '-k', f'{stage.keys}/key',
                    '--manifest', 'proof', '--into', 'into')
        return {'sender': stage.wait('sender'), 'receiver': stage.wait('receiver')}


class Put(Product):
    """Two files to a GridFTP server, one over an older one."""

    name = 'put'
    large = content_for('large', 5 * MIB + 777, (MIB, 2 * MIB))
    source, target_disk, there = 'near', 'far', 'root'

    def prepare(self, place):
        for directory in (os.path.join('near', 'here'), os.path.join('far', 'root')):
            os.makedirs(os.path.join(place, directory))
        at = {'near': 'here', 'far': 'root'}
        for name, content, old in (('large', self.large, content_for('was large', 3 * MIB)),
                                   ('fresh', content_for('fresh', 300_000), None)):
            write_file(os.path.join(place, self.source, at[self.source], name), content, 0o644, NEW_TIME)
            self.target(place, self.target_disk, f'{at[self.target_disk]}/{name}', Seen('file', content), old)
        write_file(os.path.join(place, 'far', 'root', 'mine'), content_for('mine', 3_000), 0o600, OLD_TIME)
        write_file(os.path.join(place, 'near', 'here', 'mine.part'), content_for('mine too', 3_000), 0o600, OLD_TIME)

    def serve(self, stage, *more):
        stage.start('server', 'far', 'gridftp', 'serve', '--root', 'root', '-l', f'127.0.0.1:{stage.port}',
                    '-k', f'{stage.keys}/key', *more)
        stage.wait_for_words('server', 'serving ')

    def ask(self, stage, *more):
        stage.start('client', 'near', 'gridftp', 'put', '-p', '3', '-k', f'{stage.keys}/key', *more, 'here/large',
                    'here/fresh', f'udtcat://127.0.0.1:{stage.port}/')

    def run(self, stage):
        self.serve(stage)
        self.ask(stage)
        status = stage.wait('client')
        stage.end('server')
        return {'client': status}

    def has_journal(self, stage):
        def is_so():
            return os.path.exists(stage.at(self.target_disk, self.there, 'large.part.have'))
        stage.wait_until(is_so, 'no journal comes', 'client')


class PutAgain(Put):
    """The same, once cut off before, with a journal of what had come."""

    name = 'put-again'
    large = content_for('larger', 9 * MIB + 777, (MIB, 2 * MIB))

    def play(self, stage):
        self.serve(stage)
        self.ask(stage, '--rate', '100M')
        self.has_journal(stage)
        stage.end('client', signal.SIGKILL)
        stage.end('server', signal.SIGKILL)
        return self.run(stage)


class Get(Put):
    """Two files from a GridFTP server."""

    name = 'get'
    source, target_disk, there = 'far', 'near', 'here'

    def ask(self, stage, *more):
        url = f'udtcat://127.0.0.1:{stage.port}'
        stage.start('client', 'near', 'gridftp', 'get', '-p', '3', '-k', f'{stage.keys}/key', *more, f'{url}/large',
                    f'{url}/fresh', 'here/')


class GetAgain(Get):
    """The same, once cut off before."""

    name = 'get-again'
    large = content_for('larger', 9 * MIB + 777, (MIB, 2 * MIB))

    def play(self, stage):
        self.serve(stage, '--rate', '100M')
        self.ask(stage)
        self.has_journal(stage)
        stage.end('client', signal.SIGKILL)
        stage.end('server', signal.SIGKILL)
        return self.run(stage)


class PutTree(Put):
    """All of a directory, into one that has some of it."""

    name = 'put-tree'

    def prepare(self, place):
        at = {'near': 'here', 'far': 'root'}
        to = at[self.target_disk]
        for path, size in (('top', 100_000), ('deep/one', 20_000), ('deep/er/two', 3_000), ('deep/er/three', 0)):
            content = content_for(path, size)
            write_file(os.path.join(place, self.source, at[self.source], path), content, 0o644, NEW_TIME)
            self.target(place, self.target_disk, f'{to}/{path}', Seen('file', content))
        for path in ('deep', 'deep/er'):
            self.target(place, self.target_disk, f'{to}/{path}', Seen('directory'))
        write_file(os.path.join(place, self.target_disk, to, 'mine'), content_for('mine', 3_000), 0o600, OLD_TIME)

    def ask(self, stage, *more):
        stage.start('client', 'near', 'gridftp', 'put', '-r', '-k', f'{stage.keys}/key', *more, 'here',
                    f'udtcat://127.0.0.1:{stage.port}/')


class GetTree(PutTree):
    """The same, from a server."""

    name = 'get-tree'
    source, target_disk, there = 'far', 'near', 'here'

    def ask(self, stage, *more):
        stage.start('client', 'near', 'gridftp', 'get', '-r', '-k', f'{stage.keys}/key', *more,
                    f'udtcat://127.0.0.1:{stage.port}/', 'here')


class Peers(Product):
    """A listener's key is written down, behind what is there."""

    name = 'peers'
    peers = 'home/.config/udtcat/peers'

    def make_keys(self, program, keys):
        for name in ('near', 'far'):
            line = subprocess.run([program, 'keygen', '--pair', os.path.join(keys, name)], check=True,
                                  capture_output=True, text=True).stdout.split()
            with open(os.path.join(keys, name + '.peers'), 'w', encoding='ascii') as file:
                file.write(f'{"near" if name == "near" else "somebody"} {line[0]} {line[1]}\n')
            os.chmod(os.path.join(keys, name + '.peers'), 0o644)

    def prepare(self, place):
        with open(os.path.join(place, 'keys', 'far.peers'), 'rb') as file:
            self.target(place, 'near', self.peers, None, b'# mine\n' + file.read(), 0o600)
        os.makedirs(os.path.join(place, 'far', 'out'))

    def expect(self, place):
        with open(os.path.join(place, 'near', self.peers), 'rb') as file:
            old, _ = self.targets[('near', self.peers)]
            self.targets[('near', self.peers)] = (old, Seen('file', file.read(), 0o600))

    def run(self, stage):
        stage.start('listener', 'far', '-v', '-l', f'127.0.0.1:{stage.port}', '-k', f'{stage.keys}/far', '--peers',
                    f'{stage.keys}/near.peers')
        stage.wait_for_words('listener', 'listening on')
        stage.start('connector', 'near', '127.0.0.1', str(stage.port), '-k', f'{stage.keys}/near', '--trust-first',
                    '--send-only', stdin=b'hello')
        return {'connector': stage.wait('connector'), 'listener': stage.wait('listener')}


class KeyPair(Product):
    """A key pair is made. Once it is there the same command refuses, as it should."""

    name = 'key-pair'

    def prepare(self, place):
        os.makedirs(os.path.join(place, 'near', 'keys'))
        for path in ('keys/own', 'keys/own.pub'):
            self.targets[('near', path)] = (None, None)

    def expect(self, place):
        for disk, path in self.targets:
            with open(os.path.join(place, disk, path), 'rb') as file:
                self.targets[(disk, path)] = (None, Seen('file', file.read()))

    def complaints(self, disk, found, before, acknowledged, after_rerun):
        """Another run makes another key: both halves whole, and no more."""
        if not after_rerun:
            yield from super().complaints(disk, found, before, acknowledged, after_rerun)
            return
        for of, path in self.targets:
            wanted = self.targets[(of, path)][1]
            if of == disk and (path not in found or len(found[path].content) != len(wanted.content)):
                yield f'lost: {disk}/{path}: it is not whole'

    def run(self, stage):
        stage.start('keygen', 'near', 'keygen', '--pair', 'keys/own')
        status = stage.wait('keygen')
        if status == 2 and all(os.path.exists(stage.at('near', path)) for _, path in self.targets):
            status = 0
        return {'keygen': status}


PRODUCTS = {each.name: each for each in (Trees, TreesAgain, TreesServed, Put, PutAgain, PutTree, Get, GetAgain, GetTree,
                                         Peers, KeyPair)}

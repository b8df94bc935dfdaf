# SPDX-License-Identifier: Apache-2.0
"""Products that carry files: trees, their manifests, and GridFTP."""
import os

from product import BACK, OLD, OUT, Product, check_file, read, tree, write
from stage import Finding


class Trees(Product):
    """send to receive --once, into a directory where an older file is."""

    sides = ('send', 'receive')
    OLD_NAME = 'older'

    def prepare(self):
        source, time_ns = self.stage.path('near/source'), 1_600_000_000_123_456_789
        for name, content in (('a', OUT), (self.OLD_NAME, BACK), ('d/c', b'c'), ('d/empty', b''), ('d/large', OUT * 8)):
            write(os.path.join(source, name), content)
        os.symlink('c', os.path.join(source, 'd/link'))
        os.link(os.path.join(source, 'a'), os.path.join(source, 'd/again'))
        os.setxattr(os.path.join(source, 'd/c'), 'user.mark', b'1')
        os.chmod(os.path.join(source, 'd/c'), 0o640)
        for number, name in enumerate(('a', self.OLD_NAME, 'd/c', 'd/empty', 'd/large', 'd', '.')):
            os.utime(os.path.join(source, name), ns=(time_ns, time_ns + number))
        write(self.stage.path('far/source/' + self.OLD_NAME), OLD)
        write(self.stage.path('far/source/mine'), OLD)
        self.source = tree(source)
        self.older = {self.OLD_NAME: OLD, 'mine': OLD}

    def session(self):
        receive = self.receiver()
        send = self.start('send', ['send', 'source', '127.0.0.1', receive[0] or '9', *self.stage.limits(dials=True)])
        send.wait()
        for end in receive[1:]:
            end.wait()
        return [send, *receive[1:]]

    def receiver(self):
        receive = self.start('receive', ['receive', '-l', '127.0.0.1:0', self.stage.path('far'), '--once',
                                         *self.stage.limits(accepts=True)])
        return receive.port(), receive

    def target(self):
        return self.stage.path('far/source')

    def check_promises(self, ends):
        if tree(self.stage.path('near/source')) != self.source:
            raise Finding('source', 'the source is another')
        for path, seen in tree(self.target()).items() if os.path.isdir(self.target()) else []:
            content = seen[1] if seen[0] == 'file' else None
            known = path in self.source and (content is None or content == self.source[path][1])
            if not known and self.older.get(path) != content and not path.startswith('.udtcat-parts'):
                raise Finding('half', f'{path}: {len(content or b"")} bytes that are neither the old nor the new')
        if any(end.status() == 0 for end in ends):
            self.check_same(f'{[(end.name, end.status()) for end in ends]}')

    def check_same(self, who):
        there = tree(self.target()) if os.path.isdir(self.target()) else {}
        differ = [path for path, seen in self.source.items() if there.get(path) != seen]
        if differ:
            raise Finding('lie', f'{who}, and these differ: {differ}')
        if not os.path.samefile(os.path.join(self.target(), 'a'), os.path.join(self.target(), 'd/again')):
            raise Finding('lie', f'{who}, and a hard link is none')

    def check_whole(self):
        self.check_same('the run without a fault')
        more = {path for path in tree(self.stage.path('far')) if not path.startswith('source')}
        strange = set(tree(self.target())) - set(self.source) - {'mine'}
        if strange or more or read(os.path.join(self.target(), 'mine')) != OLD:
            raise Finding('left', f'at the target: {sorted(strange | more) or "mine is another"}')


class TreesServer(Trees):
    """To a receive that lives on."""

    sides = ('send', 'receive')
    lives = ('receive',)

    def receiver(self):
        return (self.server('receive', ['receive', '-l', '127.0.0.1:0', self.stage.path('far'), *self.stage.limits()]),)


class TreesPull(Trees):
    """receive, from a send --serve that lives on."""

    sides = ('receive', 'serve')
    lives = ('serve',)

    def session(self):
        stage = self.stage
        port = self.server('serve', ['send', '--serve', stage.path('near'), '-l', '127.0.0.1:0', *stage.limits()])
        receive = self.start('receive', ['receive', 'source', '127.0.0.1', port or '9', '--into', stage.path('far'),
                                         *stage.limits(dials=True)])
        receive.wait()
        return [receive]


class Verify(Trees):
    """A tree against its manifest."""

    sides = ('verify',)
    lives = ()
    expected = 0

    def prepare(self):
        super().prepare()
        stage, victim = self.stage, self.victim
        self.victim, quick, stage.quick = None, stage.quick, False
        port, receive = self.receiver()
        send = self.start('send', ['send', 'source', '127.0.0.1', port, '--manifest', stage.path('manifest'),
                                   *stage.limits(dials=True)])
        if not port or send.wait() != 0 or receive.wait() != 0:
            raise RuntimeError(f'no manifest could be made: {send.last_words()}')
        self.victim, stage.quick = victim, quick
        self.change()

    def change(self):
        """Overridden where the tree is damaged."""

    def session(self):
        verify = self.start('verify', ['verify', self.stage.path('manifest'), self.stage.path('far')])
        verify.wait()
        return [verify]

    def has_succeeded(self, ends):
        return ends[0].status() == self.expected

    def check_promises(self, ends):
        if self.expected != 0 and ends[0].status() == 0:
            raise Finding('lie', 'verify has ended with 0, and what is there is another')

    def check_again(self, ends):
        self.stage.check_end(ends[0])
        if ends[0].status() != self.expected:
            raise Finding('again', f'verify {ends[0].status()}: {ends[0].last_words()}')


class VerifyChanged(Verify):
    """A byte of it is another, with the times as they were."""

    expected = 7

    def change(self):
        path = os.path.join(self.target(), 'd/large')
        before = os.stat(path)
        with open(path, 'r+b') as file:
            file.seek(700_000)
            byte = file.read(1)
            file.seek(700_000)
            file.write(bytes([byte[0] ^ 1]))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


class GridftpGet(Product):
    """A file from our server, in a session."""

    sides = ('get', 'serve')
    lives = ('serve',)
    scheme, proof, given = 'udtcat', ['--auth', 'key'], True

    def prepare(self):
        write(self.stage.path(self.from_path()), OUT)
        write(self.stage.path(self.to_path()), OLD)

    def from_path(self):
        return 'far/source'

    def to_path(self):
        return 'near/final'

    def session(self):
        key = ['-k', self.stage.key] if self.given else []
        port = self.server('serve', ['gridftp', 'serve', '--root', self.stage.path('far'), '-l', '127.0.0.1:0',
                                     '--idle-timeout', '3s', *self.proof, *key])
        url = f'{self.scheme}://127.0.0.1:{port or 9}/'
        limits = ['--retries', '1', '--idle-timeout', '3s', '--connect-timeout', '2s'] if self.stage.quick else []
        client = self.start(self.sides[0], ['gridftp', self.sides[0], *limits, *key, *self.paths(url)])
        client.wait()
        return [client]

    def paths(self, url):
        return [url + 'source', self.stage.path('near/final')]

    def check_promises(self, ends):
        if read(self.stage.path(self.from_path())) != OUT:
            raise Finding('source', 'the source is another')
        content = check_file(self.stage.path(self.to_path()), (OLD, OUT), self.to_path())
        if ends[0].status() == 0 and content != OUT:
            raise Finding('lie', f'{self.sides[0]} has ended with 0, and the old file is there')

    def check_whole(self):
        check_file(self.stage.path(self.to_path()), (OUT,), self.to_path())
        names = sorted(os.listdir(self.stage.path('near')) + os.listdir(self.stage.path('far')))
        if names != ['final', 'source']:
            raise Finding('left', f'{names}')


class GridftpPut(GridftpGet):
    """A file to it."""

    sides = ('put', 'serve')

    def from_path(self):
        return 'near/source'

    def to_path(self):
        return 'far/final'

    def paths(self, url):
        return [self.stage.path('near/source'), url + 'final']


class GridftpGetTree(GridftpGet):
    """A directory from our server, into one where an older file is."""

    FILES = {'a': OUT, 'd/c': b'c', 'd/e/empty': b'', 'd/large': OUT * 4}

    def prepare(self):
        for name, content in self.FILES.items():
            write(os.path.join(self.stage.path(self.from_path()), name), content)
        write(self.stage.path(self.to_path() + '/a'), OLD)

    def paths(self, url):
        return ['-r', *super().paths(url)]

    def contents(self, path):
        return {name: seen[1] for name, seen in tree(self.stage.path(path)).items() if seen[0] == 'file'}

    def check_promises(self, ends):
        if not self.FILES.items() <= self.contents(self.from_path()).items():
            raise Finding('source', 'the source is another')
        there = self.contents(self.to_path())
        half = [name for name, content in there.items()
                if content not in (self.FILES.get(name, content), OLD if name == 'a' else None)]
        if half:
            raise Finding('half', f'neither the old nor the new: {half}')
        differ = [name for name, content in self.FILES.items() if there.get(name) != content]
        if ends[0].status() == 0 and differ:
            raise Finding('lie', f'{self.sides[0]} has ended with 0, and these differ: {differ}')

    def check_whole(self):
        for path in (self.from_path(), self.to_path()):
            there = self.contents(path)
            differ = sorted(name for name in {*there, *self.FILES} if there.get(name) != self.FILES.get(name))
            if differ:
                raise Finding('left', f'in {path}, more or less or another: {differ}')


class GridftpPutTree(GridftpGetTree, GridftpPut):
    """A directory to our server, likewise."""


class GridftpTcpGet(GridftpGet):
    """As stock programs do, over TCP."""

    scheme, proof, given = 'ftp', ['--anonymous-writable'], False


class GridftpTcpPut(GridftpPut):
    """Likewise."""

    scheme, proof, given = 'ftp', ['--anonymous-writable'], False

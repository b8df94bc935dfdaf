# SPDX-License-Identifier: Apache-2.0
"""Each product as a run: what it is given, its ends, and what they owe. The victim is the end whose calls fail."""
import os
import random
import socket
import stat
import threading
import time

from stage import PATIENCE_S, Finding, eventually

DICE = random.Random(1)
OUT, BACK, OLD = DICE.randbytes(150_000), DICE.randbytes(60_000), DICE.randbytes(3_000)


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as file:
        file.write(content)


def read(path):
    try:
        with open(path, 'rb') as file:
            return file.read()
    except FileNotFoundError:
        return None


def state(root, path):
    """All that a product promises of a name."""
    place = os.path.join(root, path)
    seen = os.lstat(place)
    if stat.S_ISLNK(seen.st_mode):
        return 'link', os.readlink(place)
    kept = stat.S_IMODE(seen.st_mode), seen.st_mtime_ns
    if stat.S_ISDIR(seen.st_mode):
        return 'directory', *kept
    attributes = {name: os.getxattr(place, name) for name in os.listxattr(place) if name.startswith('user.')}
    return 'file', read(place), *kept, sorted(attributes.items())


def tree(root):
    """Path to state, of all names below root."""
    names = {}
    for at, directories, files in os.walk(root):
        for name in directories + files:
            path = os.path.relpath(os.path.join(at, name), root)
            names[path] = state(root, path)
    return names


class Product:
    """One run is: session() with the fault, then judge(), then again() without it. Names of both ends in `sides`."""

    sides = ()
    lives = ()  # those that serve many
    leaves_no_status = True

    def __init__(self, stage, victim):
        self.stage, self.victim = stage, victim
        self.servers = {}

    def prepare(self):
        """What the ends find."""

    def close(self):
        """What is neither an end nor a file ends."""

    def start(self, side, words, **more):
        return self.stage.start(side, words, victim=side == self.victim, **more)

    # What differs

    def session(self):
        """One transfer, up to the end of those ends that do not live on. Returns the ends whose 0 speaks of it."""
        raise NotImplementedError

    def check_promises(self, ends):
        """Raises where an end lies, or a half thing has a final name."""
        raise NotImplementedError

    def check_whole(self):
        """Raises where something is not as after a run without a fault; nothing more may be there either."""
        raise NotImplementedError

    # What does not

    def server(self, side, words):
        """The living one, started where it is not there; its port, or None where it has ended."""
        end = self.servers.get(side)
        if end is None or end.has_ended():
            end = self.servers[side] = self.start(side, words)
            end.where = end.port()
        return end.where

    def go(self, allowed=None):
        """`failed` or `right`, and descriptors of the servers; raises a Finding. `allowed`: what they had without a fault."""
        self.prepare()
        ends = self.session()
        for end in ends:
            self.stage.check_end(end)
        self.check_promises(ends)
        outcome = 'right' if self.has_succeeded(ends) else 'failed'
        self.stage.arm(False)
        for end in self.servers.values():
            if end.has_ended():
                self.stage.check_end(end)
                if end.status() == 0:
                    raise Finding('gone', f'{end.name} has ended with 0, unasked: {end.last_words()}')
        self.victim = None  # those that are started from now on have no fault
        self.stage.quick = False
        self.check_again(self.session())
        fds = self.count_descriptors(allowed)
        self.stage.arm(True)
        for end in self.servers.values():
            end.stop()
            self.stage.check_end(end)
        self.stage.check_nothing_left(['tmp', *(['run'] if self.leaves_no_status else [])])
        return outcome, fds

    def has_succeeded(self, ends):
        return all(end.status() == 0 for end in ends)

    def check_again(self, ends):
        """The same without a fault ends well, whatever was left."""
        for end in ends:
            self.stage.check_end(end)
        failed = [f'{end.name} {end.status()}: {end.last_words()}' for end in ends if end.status() != 0]
        if failed:
            raise Finding('again', f'the run without a fault fails: {"; ".join(failed)}')
        self.check_whole()

    def count_descriptors(self, allowed):
        """Of the servers, when all sessions are over."""
        fds = {}
        for side, end in self.servers.items():
            limit = (allowed or {}).get(side)
            if limit is not None and not eventually(lambda: end.descriptors() <= limit, 6):
                names = sorted(os.readlink(f'/proc/{end.process.pid}/fd/{fd}') for fd in os.listdir(f'/proc/{end.process.pid}/fd'))
                raise Finding('descriptors', f'{side} has {end.descriptors()}, {limit} without the fault: {names}')
            if limit is None:
                time.sleep(4)  # a measuring run: the last of its session is gone
            fds[side] = end.descriptors()
        return fds


def check_file(path, allowed, what):
    """Raises where something else than one of these is at a final name; None is nothing."""
    content = read(path)
    if content not in allowed:
        raise Finding('half', f'{what}: {len(content or b"")} bytes that are neither the old nor the new')
    return content


class Pipe(Product):
    """Both ways, from files to files."""

    sides = ('near', 'far')
    more = []

    def prepare(self):
        write(self.stage.path('out'), OUT)
        write(self.stage.path('back'), BACK)

    def words(self, side):
        return [*self.more, *self.stage.limits(listens=side == 'far', dials=side == 'near', accepts=side == 'far')]

    def session(self):
        far = self.start('far', self.words('far'), stdin=self.stage.path('back'))
        port = far.port()
        near = self.start('near', ['127.0.0.1', port or '9', *self.words('near')], stdin=self.stage.path('out'))
        near.wait()
        far.wait()
        return [near, far]

    def check_promises(self, ends):
        near, far = ends
        for end, expected in ((near, BACK), (far, OUT)):
            if not expected.startswith(read(end.stdout)):
                raise Finding('lie', f'{end.name} has written what was not sent')
        whole = read(near.stdout) == BACK and read(far.stdout) == OUT
        if not whole and 0 in (near.status(), far.status()):
            raise Finding('lie', f'near {near.status()}, far {far.status()}, and not all has come: {len(read(near.stdout))} of '
                                 f'{len(BACK)}, {len(read(far.stdout))} of {len(OUT)}')

    def check_again(self, ends):
        super().check_again(ends)
        self.check_promises(ends)

    def check_whole(self):
        pass


class PipeTcp(Pipe):
    """The same, over TCP."""

    more = ['--transport', 'tcp']


class Exec(Product):
    """Commands at both ends; the far one publishes what has come."""

    sides = ('near', 'far')

    def prepare(self):
        write(self.stage.path('out'), OUT)
        write(self.stage.path('far/final'), OLD)

    def session(self):
        place = self.stage.path('far')
        far = self.start('far', ['--recv-only', '--exec', f'cat > {place}/part && mv {place}/part {place}/final',
                                 *self.stage.limits(listens=True, accepts=True)])
        port = far.port()
        near = self.start('near', ['127.0.0.1', port or '9', '--send-only', '--exec', f'cat {self.stage.path("out")}',
                                   *self.stage.limits(dials=True)])
        near.wait()
        far.wait()
        return [near, far]

    def check_promises(self, ends):
        content = check_file(self.stage.path('far/final'), (OLD, OUT), 'final')
        if content != OUT and any(end.status() == 0 for end in ends):
            raise Finding('lie', f'{[(end.name, end.status()) for end in ends]}, and not published')

    def check_whole(self):
        check_file(self.stage.path('far/final'), (OUT,), 'final')


class Rsh(Product):
    """A command over ssh's login, that publishes and answers."""

    sides = ('near', 'far')
    more = ['--require-udp']
    leaves_no_status = False  # the far end goes with ssh, by a signal

    def prepare(self):
        write(self.stage.path('out'), OUT)
        write(self.stage.path('far/back'), BACK)
        write(self.stage.path('far/final'), OLD)
        os.symlink(self.stage.tools['ssh'], self.stage.path('ssh'))

    def session(self):
        environment = {}
        if self.victim == 'far' and self.stage.injection:
            seam = self.stage.injection.environment
            environment = {'EVERY_CALL_PROGRAM': seam['EVERY_CALL_PROGRAM'],
                           'EVERY_CALL_FAR': ' '.join(seam.get(name, '') or '-' for name in
                                                      ('LD_PRELOAD', 'EVERY_CALL_SOCKET', 'EVERY_CALL_NUMBERS', 'EVERY_CALL_COUNTS'))}
        near = self.start('near', [
            'rsh', '--ssh', self.stage.path('ssh'), '--remote-udtcat', self.stage.program, '--port', '20000-29999', *self.more,
            *(['--idle-timeout', '3s', '--connect-timeout', '2s'] if self.stage.quick else ['--connect-timeout', '15s']), 'far',
            'cat > part && mv part final && cat back'], stdin=self.stage.path('out'), environment=environment)
        near.wait()
        return [near]

    def check_promises(self, ends):
        near, = ends
        content = check_file(self.stage.path('far/final'), (OLD, OUT), 'final')
        if not BACK.startswith(read(near.stdout)):
            raise Finding('lie', 'near has written what was not sent')
        if near.status() == 0 and (content != OUT or read(near.stdout) != BACK):
            raise Finding('lie', f'the command\'s 0, and not all has come: {len(read(near.stdout))} of {len(BACK)}')

    def check_whole(self):
        check_file(self.stage.path('far/final'), (OUT,), 'final')


class RshFallback(Rsh):
    """The same where ssh itself may carry the command."""

    more = []


class Answers:
    """A TCP service that answers with BACK when it has all of OUT, and what it saw. A thread for each client."""

    def __init__(self):
        self.door = socket.create_server(('127.0.0.1', 0))
        self.port = self.door.getsockname()[1]
        self.lies = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        try:
            while True:
                threading.Thread(target=self.serve, args=(self.door.accept()[0],), daemon=True).start()
        except OSError:
            return

    def serve(self, client):
        with client:
            client.settimeout(PATIENCE_S)
            try:
                came = take_all(client)
                if came != OUT:
                    self.lies.append(f'the service saw a clean end after {len(came)} of {len(OUT)} bytes')
                client.sendall(BACK)
                client.shutdown(socket.SHUT_WR)
            except OSError:
                pass

    def close(self):
        self.door.shutdown(socket.SHUT_RDWR)
        self.door.close()


def take_all(connection):
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b''.join(parts)


class Forward(Product):
    """A client at the near end, a service at the far one; both ends live on."""

    sides = ('near', 'far')
    lives = ('near', 'far')
    more = []

    def prepare(self):
        self.service = Answers()
        self.answered = False

    def close(self):
        self.service.close()

    def has_succeeded(self, ends):
        return self.answered

    def session(self):
        far = self.server('far', ['--to', f'127.0.0.1:{self.service.port}', *self.more, *self.stage.limits(listens=True)])
        near = self.servers.get('near')
        if near is not None and near.to != far and not near.has_ended():
            near.stop()  # the new one listens elsewhere
            self.stage.check_end(near)
        port = self.server('near', ['127.0.0.1', far or '9', '--from', '127.0.0.1:0', '--wait', '3s', *self.more,
                                    *self.stage.limits(dials=True)])
        self.servers['near'].to = far
        self.answered = bool(port) and (self.ask(port) if self.stage.quick else eventually(lambda: self.ask(port), PATIENCE_S))
        return []

    def ask(self, port):
        """Whether a client was answered; a clean end of something else is a lie."""
        try:
            with socket.create_connection(('127.0.0.1', int(port)), PATIENCE_S) as client:
                client.sendall(OUT)
                client.shutdown(socket.SHUT_WR)
                came = take_all(client)
        except TimeoutError:
            raise Finding('hang', f'a client has no answer and no end within {PATIENCE_S:.0f} s') from None
        except OSError:
            return False
        if came != BACK:
            raise Finding('lie', f'the client saw a clean end after {len(came)} of {len(BACK)} bytes')
        return True

    def check_promises(self, ends):
        if self.service.lies:
            raise Finding('lie', self.service.lies[0])

    def check_whole(self):
        self.check_promises([])
        if not self.answered:
            words = '; '.join(f'{end.name} {end.status()}: {end.last_words()}' for end in self.servers.values())
            raise Finding('again', f'no client is answered when the fault is over: {words}')


class Trees(Product):
    """send to receive --once, into a directory where an older file is."""

    sides = ('send', 'receive')
    once = ['--once']
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
        receive = self.start('receive', ['receive', self.stage.path('far'), '--once',
                                         *self.stage.limits(listens=True, accepts=True)])
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
        return (self.server('receive', ['receive', self.stage.path('far'), *self.stage.limits(listens=True)]),)


class TreesPull(Trees):
    """receive, from a send --serve that lives on."""

    sides = ('receive', 'serve')
    lives = ('serve',)

    def session(self):
        port = self.server('serve', ['send', '--serve', self.stage.path('near'), *self.stage.limits(listens=True)])
        receive = self.start('receive', ['receive', 'source', '127.0.0.1', port or '9', '--into', self.stage.path('far'),
                                         *self.stage.limits(dials=True)])
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
        """Nothing."""

    def session(self):
        verify = self.start('verify', ['verify', self.stage.path('manifest'), self.stage.path('far')])
        verify.wait()
        return [verify]

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
        port = self.server('serve', ['gridftp', 'serve', '--root', self.stage.path('far'), '-l', '127.0.0.1:0', '--idle-timeout', '3s',
                                     *self.proof, *key])
        url = f'{self.scheme}://127.0.0.1:{port or 9}/'
        limits = ['--retries', '1', '--idle-timeout', '3s', '--connect-timeout', '2s', *key] if self.stage.quick else key
        client = self.start(self.sides[0], ['gridftp', self.sides[0], *limits, *self.paths(url)])
        client.wait(60)
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


class GridftpTcpGet(GridftpGet):
    """As stock programs do, over TCP."""

    scheme, proof, given = 'ftp', ['--anonymous-writable'], False


class GridftpTcpPut(GridftpPut):
    """Likewise."""

    scheme, proof, given = 'ftp', ['--anonymous-writable'], False


PRODUCTS = {
    'pipe': Pipe, 'pipe-tcp': PipeTcp, 'exec': Exec, 'forward': Forward, 'rsh': Rsh, 'rsh-fallback': RshFallback,
    'trees': Trees, 'trees-server': TreesServer, 'trees-pull': TreesPull, 'verify': Verify, 'verify-changed': VerifyChanged,
    'get': GridftpGet, 'put': GridftpPut, 'tcp-get': GridftpTcpGet, 'tcp-put': GridftpTcpPut,
}

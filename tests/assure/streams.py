# SPDX-License-Identifier: Apache-2.0
"""Products that carry streams: pipes, forwards, remote commands."""
import os
import socket
import threading

from product import BACK, OLD, OUT, Product, check_file, read, write
from stage import Finding, eventually


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
            raise Finding('lie', f'near {near.status()}, far {far.status()}, and not all has come: '
                                 f'{len(read(near.stdout))} of {len(BACK)}, {len(read(far.stdout))} of {len(OUT)}')

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
            words = ('LD_PRELOAD', 'EVERY_CALL_SOCKET', 'EVERY_CALL_NUMBERS', 'EVERY_CALL_COUNTS')
            environment = {'EVERY_CALL_PROGRAM': seam['EVERY_CALL_PROGRAM'],
                           'EVERY_CALL_FAR': ' '.join(seam.get(name, '') or '-' for name in words)}
        quick = ['--idle-timeout', '3s', '--connect-timeout', '2s']
        near = self.start('near', [
            'rsh', '--ssh', self.stage.path('ssh'), '--remote-udtcat', self.stage.program_of('far'),
            '--port', '20000-29999', *self.more, *(quick if self.stage.quick else ['--connect-timeout', '15s']),
            'far', 'cat > part && mv part final && cat back'], stdin=self.stage.path('out'), environment=environment)
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

    def __init__(self, patience_s):
        self.patience_s = patience_s
        self.server_socket = socket.create_server(('127.0.0.1', 0))
        self.port = self.server_socket.getsockname()[1]
        self.lies = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        try:
            while True:
                threading.Thread(target=self.serve, args=(self.server_socket.accept()[0],), daemon=True).start()
        except OSError:
            return

    def serve(self, client):
        with client:
            client.settimeout(self.patience_s)
            try:
                came = take_all(client)
                if came != OUT:
                    self.lies.append(f'the service saw a clean end after {len(came)} of {len(OUT)} bytes')
                client.sendall(BACK)
                client.shutdown(socket.SHUT_WR)
            except OSError:
                pass

    def close(self):
        self.server_socket.shutdown(socket.SHUT_RDWR)
        self.server_socket.close()


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
        self.service = Answers(self.stage.patience_s)
        self.answered = False

    def close(self):
        self.service.close()

    def has_succeeded(self, ends):
        return self.answered

    def session(self):
        limits = self.stage.limits(listens=True)
        far = self.server('far', ['--to', f'127.0.0.1:{self.service.port}', *self.more, *limits])
        near = self.servers.get('near')
        if near is not None and near.to != far and not near.has_ended():
            near.stop()  # the new one listens elsewhere
            self.stage.check_end(near)
        port = self.server('near', ['127.0.0.1', far or '9', '--from', '127.0.0.1:0', '--wait', '3s', *self.more,
                                    *self.stage.limits(dials=True)])
        self.servers['near'].to = far
        self.answered = bool(port) and (self.ask(port) or not self.stage.quick and
                                        eventually(lambda: self.ask(port), self.stage.patience_s))
        return []

    def ask(self, port):
        """Whether a client was answered; a clean end of something else is a lie."""
        try:
            with socket.create_connection(('127.0.0.1', int(port)), self.stage.patience_s) as client:
                client.sendall(OUT)
                client.shutdown(socket.SHUT_WR)
                came = take_all(client)
        except TimeoutError:
            raise Finding('hang', f'a client has no answer and no end within {self.stage.patience_s:.0f} s') from None
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

# SPDX-License-Identifier: Apache-2.0
"""Forwards with clients and a mirror, between this host and a network namespace: for `week` and `alerts`.

Its faults:

  lie         bytes of an answer that are not those of the question
  cut         a client's connection that ended though nothing happened to its ends
  not back    clients that are not answered a minute after the cause has gone
  mirror      a send that said 0 with a target that differs
"""
import argparse
import asyncio
import contextlib
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

BACK_WITHIN_S = 60
FAR_ENDS = 4
MIRROR_BYTES = 64 << 20


def run(*words, check=True):
    return subprocess.run(words, check=check, capture_output=True, text=True)


HERE = '127.198.7.1'  # others of this machine bind to 127.0.0.1, where a port would be free only until then
ports_given = set()


def free_port():
    while True:
        with socket.socket() as probe:
            probe.bind((HERE, 0))
            port = probe.getsockname()[1]
        if port not in ports_given:
            ports_given.add(port)
            return port


class End:
    """A process of ours that is started again and again, with one log."""

    def __init__(self, name, kind, words, log, environment=None, namespace=None):
        self.name, self.kind, self.words, self.log = name, kind, words, log
        self.environment = environment or {}
        self.namespace = namespace
        self.process = None
        self.started_at = 0.0
        self.settled = None  # resident bytes of this process when it had served for a while

    def start(self):
        words = self.words if self.namespace is None else ['ip', 'netns', 'exec', self.namespace, *self.words]
        with open(self.log, 'ab') as log:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
                                            env={**os.environ, **self.environment})
        self.started_at, self.settled = time.monotonic(), None

    def end(self, by=signal.SIGTERM):
        self.process.send_signal(by)
        self.process.wait(timeout=10)

    def resident(self):
        with open(f'/proc/{self.process.pid}/status', encoding='ascii') as status:
            return next(int(line.split()[1]) for line in status if line.startswith('VmRSS:')) * 1024

    def descriptors(self):
        return len(os.listdir(f'/proc/{self.process.pid}/fd'))

    def log_bytes(self):
        return os.path.getsize(self.log) if os.path.exists(self.log) else 0

    def says(self, since, pattern):
        """Whether the log has a match behind its first `since` bytes."""
        with open(self.log, encoding='utf-8', errors='replace') as log:
            log.seek(since)
            return re.search(pattern, log.read()) is not None


class Client:
    """Asks an echo service over and over, on connections that stay for some questions."""

    def __init__(self, forward, port, tally, dice):
        self.forward, self.port, self.tally, self.dice = forward, port, tally, dice
        self.answered_at = 0.0

    async def go(self):
        while True:
            try:
                await self.connection()
            except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError) as error:
                self.tally.cut(self.forward, error)
                await asyncio.sleep(0.5)

    async def connection(self):
        reader, writer = await asyncio.open_connection(HERE, self.port)
        try:
            for _ in range(self.dice.randrange(1, 40)):
                question = self.dice.randbytes(self.dice.choice((10, 1000, 30_000)))
                writer.write(question)
                answer = await asyncio.wait_for(reader.readexactly(len(question)), 90)
                if answer != question:
                    self.tally.fault('lie', self.forward)
                self.tally.answers += 1
                self.answered_at = time.monotonic()
                await asyncio.sleep(self.dice.uniform(0.1, 1.5))
        finally:
            writer.close()


class Tally:
    """All that was seen."""

    def __init__(self):
        self.answers = 0
        self.cuts = 0
        self.faults = []
        self.disturbed = set()  # forwards whose clients may be cut for now

    def fault(self, kind, text):
        line = f'{kind}: {text}'
        print(f'{time.strftime("%T")} {line}', flush=True)
        self.faults.append(line)

    def cut(self, forward, error):
        self.cuts += 1
        if forward not in self.disturbed:
            self.fault('cut', f'forward {forward}: {error!r}')


class Production:
    """What stands there. Subclasses have it live through something: go()."""

    def __init__(self, program, options):
        self.program, self.options = program, options
        self.dice = random.Random(options.seed)
        self.tally = Tally()
        self.folder = options.folder or tempfile.mkdtemp(prefix='udtcat-production-')
        os.makedirs(self.folder, exist_ok=True)
        self.namespace = f'week{os.getpid()}'
        self.link = f'week{os.getpid()}'
        self.helpers = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def make_path(self):
        run('ip', 'netns', 'add', self.namespace)
        run('ip', 'link', 'add', self.link, 'type', 'veth', 'peer', 'name', 'far0', 'netns', self.namespace)
        run('ip', 'address', 'add', '10.198.7.1/24', 'dev', self.link)
        run('ip', 'link', 'set', self.link, 'up')
        for words in (('address', 'add', '10.198.7.2/24', 'dev', 'far0'), ('link', 'set', 'far0', 'up'),
                      ('link', 'set', 'lo', 'up')):
            run('ip', '-n', self.namespace, *words)

    def make_key(self, name):
        """The public key of a new pair."""
        for path in (self.path(name), self.path(name + '.pub')):
            if os.path.exists(path):
                os.remove(path)
        return run(self.program, 'keygen', '--pair', self.path(name)).stdout.split()[1]

    def write_peers(self):
        for far in range(FAR_ENDS):
            lines = [f'{name} {key} forward\n' for name, keys in self.keys.items() for key in keys
                     if self.far_of[name] == far]
            with open(self.path(f'peers{far}.new'), 'w', encoding='ascii') as file:
                file.writelines(lines)
            os.chmod(self.path(f'peers{far}.new'), 0o644)
            os.rename(self.path(f'peers{far}.new'), self.path(f'peers{far}'))

    def make_ends(self):
        service = 7777
        self.helpers.append(subprocess.Popen(['ip', 'netns', 'exec', self.namespace, sys.executable, os.path.realpath(__file__), str(service)]))
        environment = {'XDG_RUNTIME_DIR': self.folder, 'HOME': self.folder}
        self.clock = self.path('clock')
        clock_offset = self.path('clock_offset.so')
        run('cc', '-shared', '-fPIC', '-O2', '-o', clock_offset, os.path.join(os.path.dirname(__file__), 'clock_offset.c'))
        self.set_clock(0)
        far_keys = [self.make_key(f'far{far}.key') for far in range(FAR_ENDS)]
        self.keys, self.far_of = {}, {}
        self.near, self.ports = [], []
        for number in range(self.options.forwards):
            name = f'site{number}'
            self.far_of[name] = number % FAR_ENDS
            self.keys[name] = [self.make_key(name + '.key')]
            self.ports.append(free_port())
            self.near.append(End(name, 'near', [
                self.program, '10.198.7.2', str(9000 + self.far_of[name]), '--from', f'{HERE}:{self.ports[-1]}',
                '--name', name, '-k', self.path(name + '.key'), '--peer', 'udtcat-ed25519 ' + far_keys[self.far_of[name]]],
                self.path(name + '.log'), environment))
        self.write_peers()
        self.far = []
        for far in range(FAR_ENDS):
            faked = dict(environment)
            if far == 0:
                faked |= {'LD_PRELOAD': clock_offset, 'CLOCK_OFFSET': self.clock}
            self.far.append(End(f'far{far}', 'far', [
                self.program, '-l', str(9000 + far), '--to', f'127.0.0.1:{service}', '--peers', self.path(f'peers{far}'),
                '--name', f'far{far}', '-k', self.path(f'far{far}.key')],
                self.path(f'far{far}.log'), faked, self.namespace))
        self.make_mirror(environment)

    def make_mirror(self, environment):
        for name in ('source', 'target'):
            os.makedirs(self.path(name), exist_ok=True)
        run('mount', '-t', 'tmpfs', '-o', f'size={MIRROR_BYTES}', 'none', self.path('target'))
        with open(self.path('mirror.key'), 'w', encoding='ascii') as file:
            file.write(run(self.program, 'keygen').stdout)
        os.chmod(self.path('mirror.key'), 0o600)
        self.mirror_port = free_port()
        self.mirror = End('mirror', 'mirror', [
            self.program, 'receive', '-l', f'{HERE}:{self.mirror_port}', self.path('target'), '--name', 'mirror', '-k',
            self.path('mirror.key')], self.path('mirror.log'), environment)
        self.environment = environment
        for number in range(20):
            self.change_source(number)

    def change_source(self, number):
        with open(self.path(f'source/file{number}'), 'wb') as file:
            file.write(self.dice.randbytes(self.dice.choice((100, 10_000, 400_000))))

    def fill_disk(self):
        """That of the mirror, to its last byte."""
        file = os.open(self.path('target/filler'), os.O_WRONLY | os.O_CREAT)
        try:
            while True:
                os.write(file, bytes(1 << 20))
        except OSError:
            os.close(file)

    def empty_disk(self):
        os.remove(self.path('target/filler'))

    def set_clock(self, offset_s):
        file = os.open(self.clock, os.O_RDWR | os.O_CREAT)  # which far ends have mapped
        os.pwrite(file, struct.pack('=q', offset_s), 0)
        os.close(file)

    async def start(self):
        """All ends and the clients, which are answered."""
        self.make_path()
        self.make_ends()
        for end in self.far + self.near + [self.mirror]:
            end.start()
        await asyncio.sleep(3)
        self.idle = {end.name: end.descriptors() for end in self.ends()}
        self.clients = [Client(number % len(self.near), self.ports[number % len(self.near)], self.tally,
                               random.Random(self.dice.random())) for number in range(self.options.clients)]
        self.tally.disturbed = set(range(len(self.near)))
        self.tasks = [asyncio.create_task(client.go()) for client in self.clients]
        await self.all_answered()
        self.tally.disturbed.clear()

    async def stop_clients(self):
        pending = self.tasks
        while pending:  # wait_for() of Python before 3.12 may miss a cancellation
            for task in pending:
                task.cancel()
            _, pending = await asyncio.wait(pending, timeout=1)
        await asyncio.sleep(3)

    async def all_answered(self):
        since = time.monotonic()
        while time.monotonic() - since < BACK_WITHIN_S:
            if all(client.answered_at > since for client in self.clients):
                return
            await asyncio.sleep(0.5)
        late = sorted({client.forward for client in self.clients if client.answered_at <= since})
        self.tally.fault('not back', f'forwards {late}')

    def ends(self):
        return [*self.near, *self.far, self.mirror]

    async def send(self):
        """The status of one send; 0 is proved."""
        with open(self.path('send.log'), 'ab') as log:
            process = await asyncio.create_subprocess_exec(
                self.program, 'send', self.path('source'), HERE, str(self.mirror_port), '-k', self.path('mirror.key'),
                stdin=subprocess.DEVNULL, stderr=log, env={**os.environ, **self.environment})
            status = await asyncio.wait_for(process.wait(), 120)
        if status == 0 and run('diff', '-r', self.path('source'), self.path('target/source'), check=False).returncode != 0:
            self.tally.fault('mirror', 'a send said 0, and the target differs')
        return status


    def stop(self):
        for end in self.ends() if hasattr(self, 'mirror') else []:
            if end.process and end.process.poll() is None:
                end.process.kill()
                end.process.wait()
        for helper in self.helpers:
            helper.kill()
            helper.wait()
        run('umount', self.path('target'), check=False)
        run('ip', 'link', 'delete', self.link, check=False)
        run('ip', 'netns', 'delete', self.namespace, check=False)
        if not self.options.folder and not self.tally.faults:
            shutil.rmtree(self.folder, ignore_errors=True)


async def echo(port):
    async def serve(reader, writer):
        with contextlib.suppress(ConnectionError):  # a session that is lost resets its streams
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()
    server = await asyncio.start_server(serve, '127.0.0.1', port, backlog=1000)
    async with server:
        await server.serve_forever()


def run_production(kind, parser=None):
    """The exit status of a script that has its Production live through something."""
    parser = parser or argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument('--forwards', type=int, default=40)
    parser.add_argument('--clients', type=int, default=200)
    parser.add_argument('--seed', type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument('--folder')
    options = parser.parse_args()
    if os.geteuid() != 0:
        print('it makes network namespaces, as only root can')
        return 77
    print(f'seed {options.seed}')
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was made goes with whom it is for
    production = kind(os.path.realpath(options.program), options)
    try:
        asyncio.run(production.go())
    finally:
        production.stop()
    tally = production.tally
    print(f'{production.summary()}{tally.answers} answers, {tally.cuts} connections cut, {len(tally.faults)} faults; {production.folder}')
    return 1 if tally.faults else 0


if __name__ == '__main__':
    asyncio.run(echo(int(sys.argv[1])))

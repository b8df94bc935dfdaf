# SPDX-License-Identifier: Apache-2.0
"""A directory of one run, the processes in it, and what all products owe whatever call has failed."""
import collections
import contextlib
import ctypes
import os
import re
import shutil
import signal
import subprocess
import time

import calls
import injection

SENTENCES_OF_A_CRASH = re.compile(r'terminate called|bug: |Assertion|stack smashing|corrupted (?!shared)|double free|'
                                  r'Sanitizer|futex facility', re.IGNORECASE)
LISTENS = re.compile(r'(?:listening on|forwarding tcp|serving .* at \w+://) ?127\.0\.0\.1:(\d+)')
PATIENCE_S = 25.0  # guess: ten times what the limits given to the program add up to
DESCRIPTORS_PER_THREAD = 4  # measured: an event loop has three descriptors, and its port has one
ESTABLISHED = '01'  # spec: proc(5), /proc/net/tcp, of the kernel's tcp_states.h
END_S = 5.0        # guess: what is over ends within this, on a busy host
PR_SET_CHILD_SUBREAPER = 36


class Finding(Exception):
    """What was seen, and of which kind."""

    def __init__(self, kind, text):
        super().__init__(f'{kind}: {text}')
        self.kind = kind


def adopt_orphans():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def eventually(happens, within_s=END_S):
    """Whether it happens in time. Only what we have meant to sleep counts: on a busy host all gets more."""
    slept_s, pause_s = 0.0, 0.002
    while not happens():
        if slept_s > within_s:
            return False
        time.sleep(pause_s)
        slept_s += pause_s
        pause_s = min(pause_s * 1.5, 0.05)
    return True


def children():
    """Of this process, with those that have come to it."""
    found = []
    for task in os.listdir('/proc/self/task'):
        # A thread may have ended since; its children come to another one.
        with contextlib.suppress(FileNotFoundError), open(f'/proc/self/task/{task}/children', encoding='ascii') as file:
            found += [int(word) for word in file.read().split()]
    return found


def words_of(process):
    try:
        with open(f'/proc/{process}/cmdline', encoding='utf-8', errors='replace') as words:
            return words.read().replace('\0', ' ')[:100]
    except OSError:
        return '(gone)'


class End:
    """A process of ours, with its standard streams in files."""

    def __init__(self, stage, name, words, *, stdin=None, environment=None):
        self.name, self.stage = name, stage
        stage.starts += 1
        self.stderr = stage.path(f'log/{name}.{stage.starts}.err')
        self.stdout = stage.path(f'log/{name}.{stage.starts}.out')
        self.signalled = False
        given_from = stdin or os.devnull
        with open(self.stderr, 'wb') as stderr, open(self.stdout, 'wb') as stdout, open(given_from, 'rb') as given:
            self.process = subprocess.Popen([stage.program_of(name), *words], stdin=given, stdout=stdout, stderr=stderr,
                                            cwd=stage.path('near'), env={**stage.environment, **(environment or {})})
        stage.ends.append(self)

    def said(self):
        with open(self.stderr, encoding='utf-8', errors='replace') as file:
            return file.read()

    def status(self):
        return self.process.poll()

    def has_ended(self):
        self.stage.reap()
        return self.process.poll() is not None

    def port(self):
        """Where it listens, None where it has ended instead."""
        eventually(lambda: LISTENS.search(self.said()) or self.has_ended(), self.stage.patience_s)
        found = LISTENS.search(self.said())
        if not found and not self.has_ended():
            raise Finding('mute' if self.stage.is_mute() else 'hang', f'{self.name} neither listens nor ends')
        return found and found.group(1)

    def wait(self, within_s=None):
        within_s = within_s or self.stage.patience_s
        if not eventually(self.has_ended, within_s):
            raise Finding('hang', f'{self.name} has not ended within {within_s:.0f} s: {self.last_words()}')
        return self.status()

    def stop(self):
        """As a service manager does; it has to follow."""
        if not self.has_ended():
            self.signalled = True
            self.process.send_signal(signal.SIGTERM)
        return self.wait(10)

    def descriptors(self):
        """Where they lead to; without sessions that live on by TCP, as they do where UDP has failed."""
        place = f'/proc/{self.process.pid}'
        try:
            with open(f'{place}/net/tcp', encoding='ascii') as table:
                sockets = [line.split() for line in table]
            connected = {f'socket:[{words[9]}]' for words in sockets if words[3] == ESTABLISHED}
            links = [os.readlink(f'{place}/fd/{each}') for each in os.listdir(f'{place}/fd')]
            return sorted(link for link in links if link not in connected)
        except OSError:
            return []

    def descriptor_count(self):
        """Without those of packets' further threads, which come when there is enough to do, and stay."""
        there = self.descriptors()
        # Both ends of a pipe stand for an eventfd that could not be had.
        pairs = sum(count // 2 for link, count in collections.Counter(there).items() if link.startswith('pipe:'))
        further_threads = min(max(there.count('anon_inode:[eventpoll]') - 1, 0), os.cpu_count())
        return len(there) - pairs - DESCRIPTORS_PER_THREAD * further_threads

    def last_words(self):
        return ' / '.join(self.said().strip().splitlines()[-3:])[-400:] or '(it has said nothing)'


class Stage:
    """Made anew for each run. `quick`: limits of time that keep a run short whose path is not the matter."""

    def __init__(self, folder, program, tools):
        self.folder, self.program, self.tools = folder, program, tools
        self.others = {}  # of ends that are another program, by their names
        self.ends, self.starts, self.injection, self.quick, self.keep = [], 0, None, True, False
        self.patience_s, self.has_crashed = PATIENCE_S, False
        for name in ('near', 'far', 'home', 'run', 'tmp', 'log'):
            os.makedirs(self.path(name))
        self.key = self.path('key')
        with open(os.open(self.key, os.O_CREAT | os.O_WRONLY, 0o600), 'w', encoding='ascii') as key:
            key.write(tools['key'])
        self.environment = {'HOME': self.path('home'), 'XDG_RUNTIME_DIR': self.path('run'), 'TMPDIR': self.path('tmp'),
                            'PATH': os.environ['PATH'], 'LC_ALL': 'C.UTF-8', 'EVERY_CALL_THERE': self.path('far')}

    def path(self, name):
        return os.path.join(self.folder, name)

    def program_of(self, name):
        return self.others.get(name, self.program)

    def inject(self, fault, counts_all=False):
        self.injection = injection.Injection(self.folder, self.program, self.tools['library'], self.tools['numbers'],
                                             fault, counts_all)

    def start(self, name, words, victim, stdin=None, environment=None):
        """An end; the calls of the victim fail."""
        environment = dict(environment or {})
        if victim and self.injection:
            environment |= self.injection.environment
        return End(self, name, words, stdin=stdin, environment=environment)

    def arm(self, armed):
        if self.injection:
            self.injection.arm(armed)

    def limits(self, listens=False, dials=False, accepts=False):
        """Options by which no end waits longer than the judge."""
        words = ['-k', self.key, '--idle-timeout', '3s' if self.quick else '30s']
        if dials:
            words += ['--connect-timeout', '2s' if self.quick else '15s']
        if accepts:
            words += ['--accept-timeout', '3s' if self.quick else '15s']
        return words + (['-l', '127.0.0.1:0'] if listens else [])

    def is_mute(self):
        return self.injection is not None and self.injection.is_mute

    def reap(self):
        """Reaps the orphans that have come to us and are over, as init would. Returns those that still run."""
        known, running = {end.process.pid for end in self.ends}, []
        for child in children():
            with contextlib.suppress(ChildProcessError):
                if child not in known and os.waitpid(child, os.WNOHANG) == (0, 0):
                    running.append(child)
        return running

    # ---- What every end owes

    def check_end(self, end):
        """No crash; a sentence where it has not ended well."""
        status, said = end.status(), end.said()
        may_crash = self.may_crash(said)
        crashed = status < 0 and not (end.signalled and -status == signal.SIGTERM)
        self.has_crashed |= crashed
        if (crashed or SENTENCES_OF_A_CRASH.search(said)) and not (may_crash and status != 0):
            raise Finding('crash', f'{end.name} ended with {status}: {end.last_words()}')
        if status != 0 and not said.strip() and not may_crash and not self.is_mute():
            raise Finding('silent', f'{end.name} ended with {status} and without a word')

    def may_crash(self, said):
        """Where memory cannot be had; and what no kernel says may be taken for a fault of our own."""
        fault = self.injection.fault if self.injection else None
        if not fault:
            return False
        is_invariant = calls.is_programming_error(fault.call, fault.error) and 'bug: ' in said
        return fault.call in calls.OF_MEMORY or is_invariant

    def check_nothing_left(self, places):
        """All ends are over: no process, no socket and no temporary file remains of them."""
        if not eventually(lambda: not self.reap(), 8):
            raise Finding('process', f'left running: {[words_of(child) for child in children()]}')
        for place in places if not self.has_crashed else []:
            left = [os.path.join(at, name) for at, _, files in os.walk(self.path(place)) for name in files]
            if left:
                raise Finding('left', f'{left}')

    def close(self):
        """Ends what still runs; the directory goes."""
        if self.injection:
            self.injection.arm(False)
        for end in self.ends:
            if not end.has_ended():
                end.process.kill()
        for end in self.ends:
            end.process.wait()
        for child in children():
            if child not in {end.process.pid for end in self.ends}:
                try:
                    os.kill(child, signal.SIGKILL)
                    os.waitpid(child, 0)
                except (ProcessLookupError, ChildProcessError):
                    pass
        if self.injection:
            self.injection.close()
        if not self.keep:
            shutil.rmtree(self.folder, ignore_errors=True)

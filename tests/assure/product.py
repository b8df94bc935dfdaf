# SPDX-License-Identifier: Apache-2.0
"""A product as a run: what it is given, its ends, and what they owe. The victim is the end whose calls fail."""
import os
import random
import stat
import time

from stage import Finding, eventually

DICE = random.Random(1)
LINGERS_S = 12  # guess: a session that a fault has broken is lost after 3 s, and may have another behind it
SESSION_ENDS_S = 4  # guess: after the last run without a fault, what its session held is closed
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
    """A scenario. go(): prepare(), session() with the fault, check_promises(); then session() again without it,
    check_again(), check_whole(). sides: names of the ends."""

    sides = ()
    lives = ()  # those that serve many
    leaves_no_status = True

    def __init__(self, stage, victim):
        self.stage, self.victim = stage, victim
        self.servers = {}

    def prepare(self):
        """What the ends find."""

    def close(self):
        """Stops helper threads."""

    def start(self, side, words, **more):
        return self.stage.start(side, words, victim=side == self.victim, **more)

    # ---- Of each product its own

    def session(self):
        """One transfer, up to the end of those ends that do not live on. Returns the ends whose 0 speaks of it."""
        raise NotImplementedError

    def check_promises(self, ends):
        """Raises where an end lies, or a half thing has a final name."""
        raise NotImplementedError

    def check_whole(self):
        """Raises where something is not as after a run without a fault; nothing more may be there either."""
        raise NotImplementedError

    # ---- The same in all

    def server(self, side, words):
        """The living one, started where it is not there; its port, or None where it has ended."""
        end = self.servers.get(side)
        if end is None or end.has_ended():
            end = self.servers[side] = self.start(side, words)
            end.where = end.port()
        return end.where

    def go(self, allowed=None):
        """`failed` or `right`, and descriptors of the servers; raises a Finding.

        allowed: what they had without a fault.
        """
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
            if limit is not None and not eventually(lambda: end.descriptor_count() <= limit, LINGERS_S):
                raise Finding('descriptors', f'{side} has more than {limit}, as without the fault: {end.descriptors()}')
            if limit is None:
                time.sleep(SESSION_ENDS_S)
            fds[side] = end.descriptor_count()
        return fds


def check_file(path, allowed, what):
    """Raises where something else than one of these is at a final name; None is nothing."""
    content = read(path)
    if content not in allowed:
        raise Finding('half', f'{what}: {len(content or b"")} bytes that are neither the old nor the new')
    return content

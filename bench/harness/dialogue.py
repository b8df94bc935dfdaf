# SPDX-License-Identifier: Apache-2.0
"""Both ends of what bench/query and bench/peers ask: a service behind a forward, and who asks it. A program of its own, since each has a namespace.

  dialogue.py serve PORT SAMPLES                               each connection says first what it wants: e(cho), t(ake), g(ive)
  dialogue.py ask HOST PORT SAMPLES QUERIES WAY SECONDS HOW [BULK_PORT]
                                          WAY of the bulk: out, back, both; HOW: kept, one connection for all questions, or anew, one for
                                          each; BULK_PORT: where the bulk goes by another way; one JSON line

Who takes bulk writes down when it had how much: "TIME BYTES" a line, which the clock of the machine makes comparable.
"""
import json
import os
import signal
import socket
import sys
import time

QUERY_BYTES = 64
PIECE = bytes(1 << 18)
LEAD_SECONDS = 4  # guess: congestion controls have found the path's rate by then
SAMPLE_SECONDS = 0.05


def take(connection, samples):
    room = bytearray(len(PIECE))
    total, next_sample = 0, 0.0
    with open(samples, "a", encoding="ascii") as file:
        while got := connection.recv_into(room):
            total += got
            if (now := time.monotonic()) >= next_sample:
                file.write(f"{now:.6f} {total}\n")
                file.flush()
                next_sample = now + SAMPLE_SECONDS


def give(connection):
    while True:
        connection.sendall(PIECE)


def echo(connection):
    while got := connection.recv(QUERY_BYTES):
        connection.sendall(got)


def serve(port, samples):
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.create_server(("", port)) as server:
        while True:
            connection, _ = server.accept()
            if os.fork() == 0:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                try:
                    {b"e": echo, b"t": lambda c: take(c, samples), b"g": give}[connection.recv(1)](connection)
                except OSError:  # the asker has gone
                    pass
                os._exit(0)
            connection.close()


def connect(place, want):
    connection = socket.create_connection(place)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(want)
    return connection


def question(connection, number):
    asked = number.to_bytes(QUERY_BYTES, "big")
    connection.sendall(asked)
    answer = b""
    while len(answer) < QUERY_BYTES:
        answer += connection.recv(QUERY_BYTES - len(answer)) or sys.exit("the dialogue was cut off")
    if answer != asked:
        sys.exit("another answer than the echo")


def ask(place, queries, how):
    """Seconds that each took."""
    taken = []
    kept = connect(place, b"e") if how == "kept" else None
    if kept:
        question(kept, 0)  # its connection is made by then
    for number in range(queries):
        begin = time.monotonic()
        if kept:
            question(kept, number)
        else:
            with connect(place, b"e") as connection:
                question(connection, number)
        taken.append(time.monotonic() - begin)
    return taken


def in_background(work):
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    return child


def ask_beside(place, bulk_place, samples, queries, way, seconds, how):
    ask(place, 3, how)
    empty = ask(place, queries, how)
    children = []
    if way in ("out", "both"):
        children.append(in_background(lambda: give(connect(bulk_place, b"t"))))
    if way in ("back", "both"):
        children.append(in_background(lambda: take(connect(bulk_place, b"g"), samples)))
    time.sleep(LEAD_SECONDS)
    begin = time.monotonic()
    time.sleep(seconds)
    middle = time.monotonic()
    beside = ask(place, queries, how)
    end = time.monotonic()
    for child in children:
        os.kill(child, signal.SIGKILL)
    print(json.dumps({"empty": empty, "beside": beside, "alone_span": [begin, middle], "beside_span": [middle, end]}), flush=True)


def rate_within(samples, span):
    """Mbit/s of all takers together; their totals are apart."""
    takers = [[]]
    for at, total in samples:
        if takers[-1] and total < takers[-1][-1][1]:
            takers.append([])
        takers[-1].append((at, total))
    return sum(rate_of([each for each in taker if span[0] <= each[0] <= span[1]]) for taker in takers if taker)


def rate_of(samples):
    if len(samples) < 2:
        return 0.0
    (begin, before), (end, after) = samples[0], samples[-1]
    return (after - before) * 8 / (end - begin) / 1e6


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(int(sys.argv[2]), sys.argv[3])
    else:
        host, port, samples, queries, way, seconds, how = sys.argv[2:9]
        bulk_port = sys.argv[9] if len(sys.argv) > 9 else port
        ask_beside((host, int(port)), (host, int(bulk_port)), samples, int(queries), way, float(seconds), how)

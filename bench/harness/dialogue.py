"""Both ends of what bench/query asks: a service behind a forward, and who asks it. A program of its own, since each has a namespace.

  dialogue.py serve PORT SAMPLES                          each connection says first what it wants: e(cho), t(ake), g(ive)
  dialogue.py ask PORT SAMPLES QUERIES WAY SECONDS HOW    WAY of the bulk: out, back, both; HOW: kept, one connection for all
                                                          questions, or anew, one for each; one JSON line

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
    with socket.create_server(("127.0.0.1", port)) as server:
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


def connect(port, want):
    connection = socket.create_connection(("127.0.0.1", port))
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


def ask(port, queries, how):
    """Seconds that each took."""
    taken = []
    kept = connect(port, b"e") if how == "kept" else None
    if kept:
        question(kept, 0)  # its connection is made by then
    for number in range(queries):
        begin = time.monotonic()
        if kept:
            question(kept, number)
        else:
            with connect(port, b"e") as connection:
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


def ask_beside(port, samples, queries, way, seconds, how):
    ask(port, 3, how)
    empty = ask(port, queries, how)
    children = []
    if way in ("out", "both"):
        children.append(in_background(lambda: give(connect(port, b"t"))))
    if way in ("back", "both"):
        children.append(in_background(lambda: take(connect(port, b"g"), samples)))
    time.sleep(LEAD_SECONDS)
    begin = time.monotonic()
    time.sleep(seconds)
    middle = time.monotonic()
    beside = ask(port, queries, how)
    end = time.monotonic()
    for child in children:
        os.kill(child, signal.SIGKILL)
    print(json.dumps({"empty": empty, "beside": beside, "alone_span": [begin, middle], "beside_span": [middle, end]}), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(int(sys.argv[2]), sys.argv[3])
    else:
        ask_beside(int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), sys.argv[5], float(sys.argv[6]), sys.argv[7])

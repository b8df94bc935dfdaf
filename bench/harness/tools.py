# SPDX-License-Identifier: Apache-2.0
"""The programs side by side. Each gives one measurement of one transfer, memory to memory unless its name says otherwise."""
import contextlib
import json
import os
import pickle
import shutil
import subprocess
import tempfile
import time
from pathlib import Path as File

from .gridftp import GRIDFTP_TOOLS
from .measurement import PORT, SLACK, SOCAT, UDTCAT, Measurement, Tool, listening, make_certificate, use_new_key
from .paths import BUILD, TUNED_BUFFERS, DEFAULT_BUFFERS
from .processes import Failed, Process, finish, until

UDR = BUILD.parent.parent / "wrappers" / "udr"
RAW_UDT = BUILD / "bench" / "raw_udt"
FLOW = BUILD / "bench" / "flow"
BARE_PIPE = BUILD / "bench" / "bare_pipe"


class Pipe:
    """Its two ends, for two children; closed here as soon as they have them."""

    def __init__(self):
        self.reading, self.writing = os.pipe()

    def close(self):
        os.close(self.reading)
        os.close(self.writing)


def pipe_through(ends, seconds, receiver, sender, ready):
    """flow source | sender ~~~ receiver | flow sink"""
    with contextlib.ExitStack() as started:
        into_sink, from_source = Pipe(), Pipe()
        sink = started.enter_context(Process([FLOW, "sink"], stdin=into_sink.reading))
        receiving = started.enter_context(Process(ends.at_far(receiver), stdout=into_sink.writing))
        into_sink.close()
        until(ready)
        begin = time.monotonic()
        started.enter_context(Process([FLOW, "source", seconds, *ends.source_words], stdout=from_source.writing))
        sending = started.enter_context(Process(ends.at_near(sender), stdin=from_source.reading))
        from_source.close()
        finish(sending, seconds + SLACK)
        finish(receiving, SLACK)
        finish(sink, SLACK)
        elapsed = time.monotonic() - begin
    counted = sink.json()
    cost = sending.cost + receiving.cost
    measured = Measurement(counted["bytes"], counted["seconds"], cost.cpu_seconds, cost.peak_bytes, None, counted["samples"])
    if len(ends.source_words) == 1:  # little data: the time of the whole transfer counts, start included
        measured.bytes, measured.seconds = counted["first_bytes"] + counted["bytes"], elapsed
    elif ends.source_words:
        measured.figures["burst_seconds"] = counted["bursts"]
    elif in_time := [sample for sample in counted["samples"] if sample[0] <= seconds]:
        # As with iperf3, what is still under way does not count: neither its bytes nor their share of the processor.
        measured.seconds, measured.bytes = in_time[-1]
        measured.cpu_seconds *= measured.bytes / max(1, counted["bytes"])
    return sending, receiving, measured


def measure_udtcat(protect="private", options=(), sockets="-lnu"):
    def measure(ends, seconds):
        ends.set_tcp()
        use_new_key()
        common = ["--protect", protect, "--stats", "json", "--no-progress", *options]
        sending, _, measured = pipe_through(
            ends, seconds, [UDTCAT, "-l", ends.port, "--recv-only", *common], [UDTCAT, ends.far_address, ends.port, "--send-only", *common],
            listening(ends, ends.port, sockets))
        stats = sending.json()
        per_packet = stats["bytes_sent"] / max(1, stats["packets_sent"] - stats["packets_resent"])
        measured.resent_bytes = int(stats["packets_resent"] * per_packet * min(1, measured.bytes / max(1, stats["bytes_sent"])))
        return measured

    return measure


def measure_plain_udt(sender, receiver):
    """Bare UDT4: our engine and libudt in either role, the programs around them the same."""

    def measure(ends, seconds):
        common = ["--plain", "--stats", "json", "--no-progress", "--transport"]
        sending, _, measured = pipe_through(
            ends, seconds, [UDTCAT, "-l", PORT, "--recv-only", *common, receiver],
            [UDTCAT, ends.far_address, PORT, "--send-only", *common, sender], listening(ends, PORT, "-lnu"))
        stats = sending.json()
        measured.resent_bytes = int(stats["packets_resent"] * stats["bytes_sent"] / max(1, stats["packets_sent"] - stats["packets_resent"]))
        return measured

    return measure


def measure_udtcat_file(ends, seconds):
    """From one tmpfs file into another, by redirection, as a person would."""
    ends.set_tcp()
    use_new_key()
    with tempfile.TemporaryDirectory(prefix="udtcat-bench-", dir="/dev/shm") as directory:
        source, target = File(directory, "source"), File(directory, "target")

        def copy(size):
            write_random(source, size)
            with open(source, "rb") as reading, open(target, "wb") as writing:
                with Process(ends.at_far([UDTCAT, "-l", PORT, "--recv-only", "--no-progress"]), stdout=writing) as receiving:
                    until(listening(ends, PORT, "-lnu"))
                    begin = time.monotonic()
                    with Process(ends.at_near([UDTCAT, ends.far_address, PORT, "--send-only", "--no-progress"]), stdin=reading) as sending:
                        finish(sending, 10 * seconds + SLACK)
                        elapsed = time.monotonic() - begin
                    finish(receiving, SLACK)
            if target.stat().st_size != source.stat().st_size:
                raise Failed(sending, "the copy has another size")
            return elapsed, sending.cost + receiving.cost

        size, (elapsed, cost) = sized(copy, seconds)
    return Measurement(size, elapsed, cost.cpu_seconds, cost.peak_bytes)


def write_random(path, size):
    with open(path, "wb") as file:
        file.write(os.urandom(1 << 20) * max(1, size >> 20))


FIRST_COPIES = (16 << 20, 64 << 20)


def sized(copy, seconds, most=2 << 30):
    """Two short copies say how long the one that counts must be: what a login costs is in both."""
    small, large = FIRST_COPIES
    begin, _ = copy(small)
    more, _ = copy(large)
    rate = (large - small) / max(more - begin, 0.01 * more)
    size = min(most, max(small, int(rate * seconds) >> 20 << 20))
    return size, copy(size)


def measure_raw_udt(ends, seconds):
    endless = 1 << 62
    receiver_out = tempfile.TemporaryFile("w+")
    with Process(ends.at_far([RAW_UDT, "receive", PORT, endless, seconds]), stdout=receiver_out) as receiver:
        until(listening(ends, PORT, "-lnu"))
        with Process(ends.at_near([RAW_UDT, "send", ends.far_address, PORT, 0])) as sender:
            finish(receiver, seconds + SLACK)
            sender.wait(10)
    receiver_out.seek(0)
    told = json.loads(receiver_out.read())
    cost = sender.cost + receiver.cost
    return Measurement(told["bytes"], told["seconds"], cost.cpu_seconds, cost.peak_bytes, None, told["samples"])


def measure_bare_pipe(ends, seconds):
    """What the machine carries, on a path that loses nothing."""
    return pipe_through(ends, seconds, [BARE_PIPE, "receive", PORT], [BARE_PIPE, "send", ends.far_address, PORT],
                        listening(ends, PORT, "-lnu"))[2]


class TcpFlow:
    """iperf3 from near to far. Its figures are there once it has been waited for."""

    def __init__(self, ends, seconds, congestion, port=None, options=()):
        self.ends, self.seconds, self.port = ends, max(1, round(seconds)), port or ends.port
        self.server_out, self.client_out = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
        self.words = ["iperf3", "-c", ends.far_address, "-p", self.port, *options, "-t", self.seconds, "-i", "0.5", "-J", "-C", congestion]

    def __enter__(self):
        self.server = Process(self.ends.at_far(["iperf3", "-s", "-1", "-J", "-i", "0.5", "-p", self.port]), stdout=self.server_out)
        until(listening(self.ends, self.port))
        self.client = Process(self.ends.at_near(self.words), stdout=self.client_out)
        return self

    def __exit__(self, *_):
        self.client.stop()
        self.server.stop()

    def wait(self):
        finish(self.client, self.seconds + SLACK)
        finish(self.server, SLACK)
        self.client_out.seek(0)
        self.server_out.seek(0)
        self.sent, self.received = json.load(self.client_out), json.load(self.server_out)
        return self

    def samples(self):
        samples, so_far = [], 0
        for interval in self.received["intervals"]:
            so_far += interval["sum"]["bytes"]
            samples.append([round(interval["sum"]["end"], 3), so_far])
        return samples


def measure_iperf3(congestion, tuned):
    def measure(ends, seconds):
        ends.set_tcp(congestion, TUNED_BUFFERS if tuned else DEFAULT_BUFFERS)
        with TcpFlow(ends, seconds, congestion) as flow:
            flow.wait()
        total = flow.received["end"]["sum_received"]
        cost = flow.client.cost + flow.server.cost
        segment = flow.sent["start"].get("tcp_mss_default", 1448)
        return Measurement(total["bytes"], total["seconds"], cost.cpu_seconds, cost.peak_bytes, flow.sent["end"]["sum_sent"]["retransmits"] * segment,
                           flow.samples())

    return measure


COMPANION_PORT = PORT + 1
SEGMENT_BYTES = 1448  # of TCP with timestamps, at 1500 bytes


def measure_beside(tool, ends, seconds, congestion):
    """The tool's figures while a kernel TCP flow has the path too, and that flow's rate in the same seconds."""
    lead = 2  # the flow that was there first has found its rate
    with TcpFlow(ends, lead + seconds + 2, congestion, COMPANION_PORT) as companion:
        time.sleep(lead)
        measured = tool.measure(ends, seconds)
        flow = companion.wait()
    inside = [(at, total) for at, total in flow.samples() if lead <= at <= lead + seconds]
    (begin, before), (end, after) = inside[0], inside[-1]
    return measured, (after - before) * 8 / (end - begin) / 1e9


FLOWS_PORT = PORT + 1000


def measure_flows(tool, ends, seconds, number):
    """The tool's figures; of several at once, those of all together."""
    if number == 1:
        return tool.measure(ends, seconds)
    flows = [finish_flow(started) for started in [start_flow(tool, ends, seconds, FLOWS_PORT + at) for at in range(number)]]
    rates = [flow.bytes / flow.seconds if flow.seconds > 0 else 0.0 for flow in flows]
    if sum(rates) == 0:
        raise Failed(f"{tool.name}: none of {number} flows carried anything")
    resent = None if any(flow.resent_bytes is None for flow in flows) else sum(flow.resent_bytes for flow in flows)
    figures = {"jain": round(sum(rates) ** 2 / (number * sum(rate ** 2 for rate in rates)), 4), "flows_gbit_per_second": [round(rate * 8e-9, 6) for rate in rates]}
    total = sum(flow.bytes for flow in flows)
    return Measurement(total, total / sum(rates), sum(flow.cpu_seconds for flow in flows), max(flow.peak_bytes for flow in flows), resent, [], figures)


def start_flow(tool, ends, seconds, port):
    """Forks, as each flow needs its own key in the environment. Returns the pid, and the descriptor of the result."""
    reading, writing = os.pipe()
    child = os.fork()
    if child != 0:
        os.close(writing)
        return child, reading
    Process.alive.clear()
    ends.port = port
    try:
        told = tool.measure(ends, seconds)
    except BaseException as failure:  # whatever it was, the parent is told
        told = repr(failure)
    with os.fdopen(writing, "wb") as file:
        pickle.dump(told, file)
    os._exit(0)


def finish_flow(started):
    child, reading = started
    with os.fdopen(reading, "rb") as file:
        told = pickle.load(file)
    os.waitpid(child, 0)
    if isinstance(told, str):
        raise RuntimeError(told)
    return told


class Sshd:
    """A daemon of our own at the far end, with keys of its own."""

    def __init__(self, ends):
        self.ends = ends
        self.directory = tempfile.TemporaryDirectory(prefix="udtcat-bench-")
        at = File(self.directory.name)
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(at / name)], check=True)
        shutil.copy(at / "user.pub", at / "authorized_keys")
        (at / "config").write_text(
            f"Port {PORT}\nHostKey {at}/host\nAuthorizedKeysFile {at}/authorized_keys\nPidFile none\nStrictModes no\nUsePAM no\n"
            "PermitRootLogin yes\nPasswordAuthentication no\nSubsystem sftp internal-sftp\n")
        os.makedirs("/run/sshd", exist_ok=True)
        self.options = ["-p", PORT, "-i", at / "user", "-F", "/dev/null", "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
                        "-o", "LogLevel=ERROR"]

    def __enter__(self):
        with contextlib.ExitStack() as started:
            self.daemon = started.enter_context(Process(self.ends.at_far(["/usr/sbin/sshd", "-D", "-e", "-f", f"{self.directory.name}/config"])))
            until(listening(self.ends, PORT))
            started.pop_all()
        return self

    def __exit__(self, *_):
        until(lambda: not self.daemon.children())  # it learns of the end half a round trip later; their cost is its own then
        self.daemon.stop()
        self.directory.cleanup()

    def shell_words(self):
        return " ".join(str(word) for word in self.options)


def measure_ssh(cipher=None):
    def measure(ends, seconds):
        ends.set_tcp()
        with Sshd(ends) as sshd:
            from_source = Pipe()
            cipher_words = ["-c", cipher] if cipher else []
            words = ["ssh", *sshd.options, *cipher_words, f"root@{ends.far_address}", FLOW, "sink"]
            with Process([FLOW, "source", seconds], stdout=from_source.writing), Process(ends.at_near(words), stdin=from_source.reading) as client:
                from_source.close()
                finish(client, seconds + SLACK)
            counted = client.json()
        cost = client.cost + sshd.daemon.cost  # the daemon has waited for its sessions, and they for the sink
        return Measurement(counted["bytes"], counted["seconds"], cost.cpu_seconds - counted["cpu_seconds"], cost.peak_bytes, None, counted["samples"])

    return measure


def copy_file(argv_of):
    """A copy from one tmpfs file to another: the rate over the whole command. Sized by a first short try."""

    def measure(ends, seconds):
        ends.set_tcp()
        use_new_key()
        with Sshd(ends) as sshd, tempfile.TemporaryDirectory(prefix="udtcat-bench-", dir="/dev/shm") as directory:
            source, target = File(directory, "source"), File(directory, "target")

            def copy(size):
                write_random(source, size)
                target.unlink(missing_ok=True)
                begin = time.monotonic()
                client = finish(Process(ends.at_near(argv_of(sshd, ends, source, target))), 10 * seconds + SLACK)
                if target.stat().st_size != source.stat().st_size:
                    raise Failed(client, "the copy has another size")
                return time.monotonic() - begin, client.cost

            size, (elapsed, cost) = sized(copy, seconds)
        # The daemon has served all copies, which cost the same a byte.
        served = sshd.daemon.cost.cpu_seconds * size / (size + sum(FIRST_COPIES))
        return Measurement(size, elapsed, cost.cpu_seconds + served, max(cost.peak_bytes, sshd.daemon.cost.peak_bytes))

    return measure


TREE_FILES = 20_000


def write_tree(root):
    """Small files, 200 to a directory, of 100 to 2000 bytes: the same sizes each time."""
    content, total = os.urandom(4096), 0
    for number in range(TREE_FILES):
        directory = root / f"d{number // 200}"
        if number % 200 == 0:
            directory.mkdir(parents=True)
        size = 100 + number * 7919 % 1901
        (directory / f"f{number}").write_bytes(content[number % 2048:][:size])
        total += size
    return total


def copy_tree(argv_of):
    """20 000 small files in tmpfs: the time is what counts, the whole command's."""

    def measure(ends, _seconds):
        ends.set_tcp()
        use_new_key()
        with Sshd(ends) as sshd, tempfile.TemporaryDirectory(prefix="udtcat-bench-", dir="/dev/shm") as directory:
            source, target = File(directory, "source"), File(directory, "target")
            size = write_tree(source)
            begin = time.monotonic()
            client = finish(Process(ends.at_near(argv_of(sshd, ends, f"{source}/", target))), 60 + SLACK)
            elapsed = time.monotonic() - begin
            if sum(len(files) for _, _, files in os.walk(target)) != TREE_FILES:
                raise Failed(client, "the copy has another number of files")
            until(lambda: not sshd.daemon.children())
            cost = client.cost
        return Measurement(size, elapsed, cost.cpu_seconds + sshd.daemon.cost.cpu_seconds, max(cost.peak_bytes, sshd.daemon.cost.peak_bytes))

    return measure


def scp_words(sshd, ends, source, target):
    options = ["-P" if word == "-p" else word for word in sshd.options]
    return ["scp", "-q", *options, source, f"root@{ends.far_address}:{target}"]


def rsync_words(sshd, ends, source, target):
    return ["rsync", "-r", "--whole-file", "-e", f"ssh {sshd.shell_words()}", source, f"root@{ends.far_address}:{target}"]


def udr_words(words_of):
    """The same copy, by way of wrappers/udr."""
    return lambda *arguments: [UDR, "--require-udp", f"--remote-udtcat={UDTCAT}", *words_of(*arguments)]


def measure_socat_tls(ends, seconds):
    ends.set_tcp()
    with tempfile.TemporaryDirectory(prefix="udtcat-bench-") as directory:
        certificate = make_certificate(directory)
        *_, measured = pipe_through(ends, seconds, [*SOCAT, "-u", f"OPENSSL-LISTEN:{PORT},cert={certificate},verify=0,reuseaddr", "STDOUT"],
                                    [*SOCAT, "-u", "STDIN", f"OPENSSL:{ends.far_address}:{PORT},verify=0"], listening(ends, PORT))
    return measured


def retransmitted_segments(ends):
    names, values = [line.split() for line in subprocess.run(ends.at_near(["cat", "/proc/net/snmp"]), check=True, capture_output=True,
                                                             text=True).stdout.splitlines() if line.startswith("Tcp:")]
    return int(values[names.index("RetransSegs")])


def measure_socat_tcp(congestion):
    """Kernel TCP as a pipe in the clear, for what iperf3 has no pattern for: it counts what the sink has got, as of ours."""

    def measure(ends, seconds):
        ends.set_tcp(congestion, TUNED_BUFFERS)
        before = retransmitted_segments(ends)
        *_, measured = pipe_through(ends, seconds, [*SOCAT, "-u", f"TCP-LISTEN:{ends.port},reuseaddr", "STDOUT"],
                                    [*SOCAT, "-u", "STDIN", f"TCP:{ends.far_address}:{ends.port}"], listening(ends, ends.port))
        measured.resent_bytes = (retransmitted_segments(ends) - before) * SEGMENT_BYTES
        return measured

    return measure


def measure_mbuffer(ends, seconds):
    ends.set_tcp()
    *_, measured = pipe_through(ends, seconds, ["mbuffer", "-q", "-m", "64M", "-I", PORT], ["mbuffer", "-q", "-m", "64M", "-O", f"{ends.far_address}:{PORT}"],
                                listening(ends, PORT))
    return measured


def name(transport):
    return "ours" if transport == "native" else transport


TOOLS = {
    tool.name: tool
    for tool in (
        *(Tool(f"udtcat {protect}", (UDTCAT, FLOW), measure_udtcat(protect)) for protect in ("private", "safe", "auth", "clear")),
        *(Tool(f"udtcat {protect}, tcp", (UDTCAT, FLOW), measure_udtcat(protect, ("--transport", "tcp"), "-lnt")) for protect in ("private", "clear")),
        Tool("udtcat private, libudt", (UDTCAT, FLOW), measure_udtcat("private", ("--transport", "libudt"))),
        Tool("udtcat private, file", (UDTCAT,), measure_udtcat_file, "", True),
        Tool("raw libudt", (RAW_UDT,), measure_raw_udt),
        Tool("bare pipe", (BARE_PIPE, FLOW), measure_bare_pipe),
        *(Tool(f"{name(sender)} to {name(receiver)}", (UDTCAT, FLOW), measure_plain_udt(sender, receiver))
          for sender, receiver in (("libudt", "libudt"), ("native", "libudt"), ("libudt", "native"), ("native", "native"))),
        Tool("tcp cubic", ("iperf3",), measure_iperf3("cubic", False), "iperf3"),
        Tool("tcp cubic tuned", ("iperf3",), measure_iperf3("cubic", True), "iperf3"),
        Tool("tcp bbr", ("iperf3",), measure_iperf3("bbr", False), "iperf3"),
        Tool("tcp bbr tuned", ("iperf3",), measure_iperf3("bbr", True), "iperf3"),
        *(Tool(f"tcp {congestion} pipe", ("socat", FLOW), measure_socat_tcp(congestion), "socat") for congestion in ("bbr", "cubic")),
        Tool("ssh", ("ssh", "/usr/sbin/sshd", FLOW), measure_ssh(), "openssh-server"),
        Tool("ssh aes128-gcm", ("ssh", "/usr/sbin/sshd", FLOW), measure_ssh("aes128-gcm@openssh.com"), "openssh-server"),
        Tool("scp, file", ("scp", "/usr/sbin/sshd"), copy_file(scp_words), "openssh-server", True),
        Tool("rsync ssh, file", ("rsync", "/usr/sbin/sshd"), copy_file(rsync_words), "rsync", True),
        Tool("udr scp, file", ("scp", "/usr/sbin/sshd", UDTCAT), copy_file(udr_words(scp_words)), "openssh-server", True),
        Tool("udr rsync, file", ("rsync", "/usr/sbin/sshd", UDTCAT), copy_file(udr_words(rsync_words)), "rsync", True),
        Tool("rsync ssh, tree", ("rsync", "/usr/sbin/sshd"), copy_tree(rsync_words), "rsync", True),
        Tool("udr rsync, tree", ("rsync", "/usr/sbin/sshd", UDTCAT), copy_tree(udr_words(rsync_words)), "rsync", True),
        Tool("socat tls", ("socat", "openssl", FLOW), measure_socat_tls, "socat"),
        Tool("mbuffer", ("mbuffer", FLOW), measure_mbuffer, "mbuffer"),
        *GRIDFTP_TOOLS,
    )
}

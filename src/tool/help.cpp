#include "tool/help.hpp"

#include "tool/exit_status.hpp"

namespace udtcat::tool {

namespace {

constexpr const char* kSynopsis = R"(udtcat: an encrypted pipe for long fat networks

  udtcat -l [ADDR:]PORT                   wait; bridge the first peer that proves the key to stdin and stdout
  udtcat HOST PORT                        connect; bridge stdin and stdout; with --exec CMD, either way, a command
  udtcat -l [ADDR:]PORT --to HOST:PORT    serve a TCP service to many peers
  udtcat HOST PORT --from [ADDR:]PORT     carry local TCP connections to the service behind HOST
  udtcat --plain HOST PORT                bare bytes to any UDT4 program, unprotected; likewise --plain -l [ADDR:]PORT
  udtcat keygen                           print a new key
  udtcat rsh [USER@]HOST COMMAND...       run a command over ssh's login and our transport; udtcat rsh --help
  udtcat gridftp VERB ...                 get, put, copy, serve files as Globus' GridFTP; gateway; udtcat gridftp --help
)";

constexpr const char* kOptions = R"(
Key (else $UDTCAT_KEY, else: a connector asks on the terminal, a listener shows a new one there):
  -k, --key-file FILE        a file that only you can read
      --as NAME              what this end is called
      --peer NAME            what the other end has to be called
Protection (the same at both ends):
      --protect LEVEL        private (default), safe, auth or clear
      --cipher NAME          aes-256-gcm, aes-128-gcm or chacha20-poly1305 (default: the faster 256-bit one)
Direction:
      --send-only            take nothing from the peer
      --recv-only            read nothing from stdin
      --exec CMD             a command for sh -c in place of stdin and stdout; receipted when it has ended with 0
Network:
  -4, -6                     IPv4 only, IPv6 only
      --connect-timeout T    how long to try (10s; 2s where the port is closed, unless given)
      --accept-timeout T     how long to wait for a peer (for ever)
      --idle-timeout T       silence after which the peer is lost (40s)
      --rate R               send no faster: bit/s, with k, M or G
      --flows N              UDT connections of a session, 1 to 16 (a connector: 1; a listener: as asked)
      --transport NAME       native or libudt
      --congestion NAME      of native: bbr (default), udt, cubic, or fixed, which sends at --rate
      --memory SIZE          of native: what may be under way, each way, 1MiB to 64GiB (256MiB)
      --plain                no session: any UDT4 program can be the other end; NOTHING is protected or proved
Work:
      --block SIZE           payload of a block, 4KiB to 1MiB (256KiB)
      --lanes N              cipher contexts, 1 to 64 (16)
      --threads N            cipher threads of this host, 1 to 256 (its cores)
Output, all on stderr:
  -v, -vv, -vvv              say more: peers, events, blocks
  -q, --quiet                only errors
      --progress, --no-progress   a line of progress (default: where a person watches)
      --stats json|none      one JSON object as the last line (none)
  -h, --help    --version

Times are seconds, or have ms, s or m. Sizes are bytes, or have KiB, MiB or GiB.

Exit status:
)";

constexpr const char* kExamples = R"(
Examples:
  udtcat -l 9000 > tree.tar               shows a key, and the command for the other host, which asks for it there:
  tar c tree | udtcat HOST 9000

  udtcat -l 9000 -k key --exec 'zfs recv pool/data'      and on the other host
  zfs send pool/data@now | udtcat HOST 9000 -k key --send-only

  udtcat -l 9000 -k key --to localhost:5432      and on the other host
  udtcat HOST 9000 -k key --from 5432
)";

constexpr const char* kRsh = R"(udtcat rsh: a remote shell, over an encrypted session of ours

  udtcat rsh [options] [ssh's own options] [USER@]HOST COMMAND...
  udr PROGRAM...                          puts it under rsync, scp, sftp, git and others

ssh says who you are and starts udtcat there; then the command's stdin, stdout, stderr, signals and exit status move
over UDP. All of ssh's options are understood, and handed to it. What is no command (a login shell, -t, -N, -W, ...) is
left to ssh itself.

      --port N | N-M         UDP ports of the far side (9000-9100); one is used a command
      --udp-host HOST        try this address as well as the one that ssh dialled and the one its server saw
      --connect-timeout T    how long UDP is tried (3s); then the command goes over ssh itself, with a line that says so
      --require-udp          then it fails instead
      --push                 where there is no udtcat, copy this one to ~/.cache/udtcat there, and use it
      --remote-udtcat PATH   where udtcat is there
      --ssh 'PROGRAM ARGS'   what to run as ssh
      --daemon               no ssh: udtcat rsh-daemon waits at HOST, on the first of --port; the key as for a pipe
      --as, --peer           with --daemon
      --rate, --congestion, --memory, --protect, --cipher, --block, --lanes, --threads, --flows, --idle-timeout, --stats
                             see udtcat --help

Options for certain hosts: ~/.config/udtcat/config, with `Host PATTERN` lines and, below each, options without dashes.

Exit status: the command's; 255 where that is not known, or where it was ended by a signal.
)";

}  // namespace

std::string rsh_help_text() { return kRsh; }

std::string rsh_daemon_help_text() {
  return R"(udtcat rsh-daemon: runs what a list allows for whoever proves the key, until stopped

  udtcat rsh-daemon -l [ADDR:]PORT -k FILE --allow LIST
  udtcat rsh --daemon --port PORT -k FILE HOST COMMAND      at the other end; and udr: udr --key-file=FILE --port PORT rsync -a HOST::MODULE/ .

      --allow FILE           lines of the form TEXT = PROGRAM WORDS; # begins a comment. A command that is TEXT, byte by byte,
                             runs PROGRAM WORDS, without a shell; no other command is run
      -k, --key-file FILE, --as, --peer, --idle-timeout, --rate, --congestion, --memory, --lanes, --threads
                             see udtcat --help

A list for modules of rsync:
  rsync --server --daemon . = rsync --server --daemon --config=/etc/rsyncd.conf .
)";
}

std::string help_text() { return kSynopsis + std::string(kOptions) + exit_status_text() + kExamples; }

std::string gridftp_help_text() {
  return R"(udtcat gridftp: a peer of programs that speak GridFTP, as Globus' do

  udtcat gridftp get  [options] URL... FILE|DIRECTORY|-       - is stdout
  udtcat gridftp put  [options] FILE...|- URL                 a URL that ends with / is a directory
  udtcat gridftp copy [options] URL URL                       from server to server
  udtcat gridftp serve --root DIR [-l [ADDR:]PORT] [-k FILE]
  udtcat gridftp gateway ...                                  for two sites that stay as they are; gateway --help

  URL: ftp://[USER@]HOST[:2811]/PATH, or udtcat:// for a server with a key

  -p, --parallelism N        data connections, 1 to 64 (1)
  -s, --stripes N            ask for a striped transfer; for get, to N ports here
      --range A-B            only the bytes from A up to, and not including, B
      --over WHAT            tcp, udt (bare UDT4), session (sealed); with a key or --protect: session, else tcp
      --retries N            attempts in a row that may move nothing before it gives up (5)
      --connect-timeout T    how long each data connection is tried, and the session of udtcat:// (10s)
      --clear-control        with a key and ftp://: names, ranges and sizes may go in the clear, unproved but by our own servers
  serve:
  -l, --listen [ADDR:]PORT   where clients come (2811; without a key, of this host only)
      --root DIR             what they see; nothing outside can be reached
      --read-only            nobody changes anything: so it is without a key
      --auth WHO             key: who has the key, sealed, by UDP: so it is with one; anonymous: everybody, by TCP
      --anonymous-writable   everybody may also write and delete
      --third-party          data may go to, and come from, other hosts than the client's: for transfers between servers
      --protect LEVEL        with a key: what data must have at least
  -k, --key-file, --as, --peer, --protect, --cipher, --lanes, --threads, --flows, --rate, --congestion, -v, -q, --progress,
  --stats                    as of udtcat (udtcat --help)

A file is FILE.part until it is whole; called again, get and put go on where they were cut. Over tcp and udt NOTHING is
protected, neither the login nor the data.
)";
}

std::string gateway_help_text() {
  return R"(udtcat gridftp gateway: GridFTP between two sites, whose programs stay as they are, over a session of ours

  udtcat gridftp gateway -l [ADDR:]PORT --to HOST:2811      beside the FTP server
  udtcat gridftp gateway HOST PORT --from [ADDR:]2811       beside the clients, for whom it is the server

Control and data connections, those of a transfer between two servers too, are streams of one session, sealed as --protect says.
The other options are those of udtcat (udtcat --help), but for stdin and stdout. IPv4 is all that PORT and PASV know.
Log in without GSI (ftp://): the gateway has to read where data goes. -data-cred auto still seals the data from end to end.

  globus-url-copy -p 8 ftp://GATEWAY:2811/path file:///path
)";
}

}  // namespace udtcat::tool

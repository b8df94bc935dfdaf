// SPDX-License-Identifier: Apache-2.0
#include "pipe/pipe_options.hpp"

#include "tool/cli/exit_status.hpp"

namespace udtcat::pipe {

namespace {

constexpr const char* kSynopsis = R"(udtcat: an encrypted pipe for long fat networks

  udtcat -l [ADDR:]PORT                   wait; bridge the first peer that proves the key to stdin and stdout
  udtcat HOST PORT, or HOST:PORT          connect; bridge stdin and stdout; with --exec CMD, either way, a command
  udtcat -l [ADDR:]PORT --to HOST:PORT    serve a service to many peers
  udtcat HOST PORT --from [ADDR:]PORT     carry local clients to the service behind HOST, until stopped
                                          likewise the other way round: -l with --from, HOST PORT with --to
  udtcat --via PLACE, udtcat -l --via PLACE   the same of two hosts behind firewalls, by udtcat meet on a third
  udtcat --via PLACE, udtcat TICKET       without a key: the first prints the second, a ticket for one pipe, and waits
  udtcat --plain HOST PORT                bare bytes to any UDT4 program, unprotected; likewise --plain -l [ADDR:]PORT
  udtcat keygen                           print a new key; as ~/.config/udtcat/key of both hosts it needs no -k:
                                          (umask 077; mkdir -p ~/.config/udtcat; udtcat keygen > ~/.config/udtcat/key)
  udtcat keygen --pair [FILE]             make a key pair of your own, and print what others know you by
  udtcat --config FILE                    the same from a file: an option a line, and listen, or host and port
  udtcat send PATH... HOST PORT           files and directories, to udtcat receive -l PORT; or, by ssh, to
                                          HOST:DIRECTORY; udtcat send --help, udtcat receive --help
  udtcat verify MANIFEST [DIRECTORY]      hold what was received against a list of it; udtcat verify --help
  udtcat bench [USER@]HOST [PORT]         measure the path both ways, and what limits it; udtcat bench --help
  udtcat status                           who is connected to the udtcats of this host; udtcat status --help
  udtcat rsh [USER@]HOST COMMAND...       run a command over ssh's login and our transport; udr PROGRAM... puts it under
                                          rsync, scp, sftp, git, borg, restic; udtcat rsh --help
  udtcat gridftp VERB ...                 get, put, copy, serve files as Globus' GridFTP; gateway; udtcat gridftp --help
  udtcat help [TOPIC]                     this; or of keys, forward, service, config, why, exit, or a command
)";

constexpr const char* kOptions = R"(
Key (else $UDTCAT_KEY, X.key beside --config X.conf, the pair below, ~/.config/udtcat/key; else a connector asks on the
terminal, and a listener shows a new one there):
  -k, --key-file FILE        a shared key, or one's own key pair: a file that only you can read
      --as NAME              what this end is called
      --peer NAME            what the other end has to be called
  Key pairs (from -k, else ~/.config/udtcat/identity):
      --peers FILE           who may come in: lines of NAME PUBLIC-KEY [PURPOSES] [to=NAME,...]; SIGHUP reads it
      --peer PUBLIC-KEY|NAME the listener that is meant (default: HOST), by its key or a name in ~/.config/udtcat/peers
      --trust-first          take an unknown listener's key for right, and write it down there
Protection (the same at both ends):
      --protect LEVEL        private (default), safe, auth or clear
      --cipher NAME          aes-256-gcm, aes-128-gcm or chacha20-poly1305 (default: the faster 256-bit one)
Direction:
      --send-only            take nothing from the peer
      --recv-only            read nothing from stdin
      --size SIZE            how much will come, for the line of progress (a file on stdin says it itself)
      --exec CMD             a command for sh -c in place of stdin and stdout; unless it exits 0, both ends exit 7
Forward (each may be written several times; services of one end have different names):
      --to [NAME=]SERVICE    what the other end's clients reach: HOST:PORT or unix:PATH
      --from PLACE[=NAME]    where our clients come, and the service they want: [ADDR:]PORT (loopbacks) or unix:PATH
      --wait T               how long a client waits for a session (10s)
      --once                 do not dial again: the end of the session is ours
      --max-peers N          of a listener: peers that have a session (1024)
      --max-sessions N       of a listener: sessions of one peer (1024)
      --max-streams N        of a listener: connections of one session, 1 to 1024 (1024)
      --total-memory SIZE    of a listener: that all sessions may hold (half of what this process may have)
Network:
  -4, -6                     IPv4 only, IPv6 only
      --via HOST[:PORT]      where both ends meet that cannot reach each other: a udtcat meet, at both ends, with no
                             HOST PORT here and -l alone there; as directly as it can be, else relayed
      --via-key FILE         the key of that place (default: it serves everybody)
      --ticket FILE          the ticket in a file, not in the list of processes; /dev/tty: it is asked for
      --new-ticket           with --via: make a ticket also where there is a key
      --stun HOST[:PORT]     who tells this host its public address as well (RFC 8489); may be written several times
      --connect-timeout T    how long to try (10s; 2s where the port is closed, unless given)
      --accept-timeout T     how long to wait for a peer (for ever)
      --idle-timeout T       silence after which the peer is lost (40s)
      --rate R               send no faster: bit/s, with k, M or G
      --flows N|auto         UDT connections of a session at once, 1 to 16; auto: more than one where that helps
                             (default); of a listener: the most (16)
      --bind ADDR[,ADDR]...  of the end that connects: this host's addresses that flows leave from, one each; two
                             uplinks so carry one stream, each alone where the other is lost
      --transport NAME       auto: native, which is over UDP, and tcp where nobody answers by UDP (default); or native,
                             libudt, tcp alone
      --no-tcp               auto without tcp: no TCP port is opened here, none is called there
      --proxy URL            tcp goes by an HTTP proxy: http://[USER:PASSWORD@]HOST:PORT, or none (default:
                             $https_proxy, but to hosts of $no_proxy)
      --congestion NAME      of native: bbr (default), udt, or fixed, which sends at --rate
      --offload on|off       of native: whether the kernel may cut and join trains of datagrams (on)
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
      --stats FORM           json: one JSON object as the last line; json:10s: and one each 10 s; none (none)
      --name NAME            of this service, in status and in the log: 1 to 255 letters, digits and "._:@-\"
      --metrics [ADDR:]PORT  metrics for Prometheus at http://ADDR:PORT/metrics (ADDR: 127.0.0.1)
      --status-group GROUP   members of GROUP may ask with udtcat status as well
      --log-format FORM      text, or json: each line is a JSON object (text)
      --why                  at the end, and at SIGUSR1: what limited the transfer, and what would help
      --check                only say what would be done
  -h, --help    -V, --version
Each option may stand in the FILE of --config: udtcat help config

Times are seconds, or have ms, s or m. Sizes are bytes, or have kB, MB, GB (10^9), KiB, MiB, GiB (2^30). All may have
decimals: 1.5G, 0.5s.

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

}  // namespace

std::string help_text() { return kSynopsis + std::string(kOptions) + tool::exit_status_text() + kExamples; }

}  // namespace udtcat::pipe

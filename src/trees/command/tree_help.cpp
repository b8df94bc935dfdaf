// SPDX-License-Identifier: Apache-2.0
#include "trees/command/tree_options.hpp"

namespace udtcat::trees {

namespace {

constexpr const char* kSend = R"(udtcat send: files and directories to another host, proved to be the same there

  udtcat send PATH... HOST PORT                  the other end: udtcat receive -l PORT
  udtcat send PATH... [USER@]HOST:DIRECTORY      the other end: a udtcat that ssh starts there
  udtcat send --serve DIRECTORY -l [ADDR:]PORT   read-only, to those that come: udtcat receive PATH... HOST PORT
  udtcat send PATH... --via PLACE                without a key: prints the command for the other end, with a ticket for
                                                 this transfer; PLACE is a udtcat meet that both ends reach
  udtcat send PATH... TICKET                     to the end that has made it: udtcat receive --via PLACE

Each PATH stands there under its last name, with all that is below it; of PATH/. and PATH/.. what is in them. Kept are
names, content, holes, modes, times, symbolic links (as links), hard links, FIFOs, devices (by root) and user.*
attributes. What is there already is not sent again; after a cut the same command, from the same directory, goes on.
Exit status 0 says that all of it stands there, proved, on the disk. Nothing is ever deleted there.

      --serve DIRECTORY      with -l: send what is below it, to any number of peers, until stopped
      --files-from FILE      the names that FILE ("-": stdin) has, each ended by NUL, as of find -print0, and not what
                             is below them; they stand there with their paths
      --owner                keep owners, and security.* and trusted.* attributes; the receiver is root
      --reread               read every file at both ends again, whatever was proved before
      --manifest FILE        write down what was proved, for udtcat verify
      --once                 with -l: end with the first transfer
      --port N | N-M, --udp-host HOST, --push, --require-udp, --remote-udtcat PATH, --ssh 'PROGRAM ARGS'
                             by ssh; see udtcat rsh --help
  -k, --key-file, --as, --peer, --peers, --trust-first, -4, -6, -l, --listen, --accept-timeout, --connect-timeout,
      --via, --via-key, --stun, --ticket, --new-ticket, --rate, --bind, --transport, --no-tcp, --proxy, --congestion,
      --offload, --memory, --protect, --cipher, --block, --lanes, --threads, --flows, --idle-timeout, --stats, --name,
      --metrics, --status-group, --log-format, --why, --progress, --no-progress, --check, -v, --verbose, -q, --quiet
                             see udtcat --help

Exit status: as udtcat's; 7 where some names could not be had, which are named, and the rest stands.
)";

constexpr const char* kReceive = R"(udtcat receive: files and directories from another host, proved to be the same

  udtcat receive -l [ADDR:]PORT [DIRECTORY]      from udtcat send PATH... HOST PORT, until it is stopped
  udtcat receive PATH... HOST PORT               of udtcat send --serve, paths below its directory; none: all
  udtcat receive [USER@]HOST:PATH...             of a udtcat that ssh starts there
  udtcat receive TICKET [DIRECTORY]              from udtcat send PATH... --via PLACE, which has printed that
  udtcat receive --via PLACE                     without a key: prints udtcat send PATH... TICKET for the other end

They come into DIRECTORY (here), and nowhere else; what is not whole yet is in its .udtcat-parts. See udtcat send --help
for what is kept, and what exit status 0 says.

      --into DIRECTORY       not into the current directory
      --limit SIZE           write so much at most in a transfer, as in 100GB; each name counts 4 KiB
      --owner                keep owners, and security.* and trusted.* attributes; for root
      --reread               read every file at both ends again, whatever was proved before
      --manifest FILE        write down what was proved, for udtcat verify
      --once                 with -l: end with the first transfer
      --port N | N-M, --udp-host HOST, --push, --require-udp, --remote-udtcat PATH, --ssh 'PROGRAM ARGS'
                             by ssh; see udtcat rsh --help
  -k, --key-file, --as, --peer, --peers, --trust-first, -4, -6, -l, --listen, --accept-timeout, --connect-timeout,
      --via, --via-key, --stun, --ticket, --new-ticket, --bind, --transport, --no-tcp, --proxy, --congestion, --offload,
      --memory, --protect, --cipher, --block, --lanes, --threads, --flows, --idle-timeout, --stats, --name, --why,
      --metrics, --status-group, --log-format, --progress, --no-progress, --check, -v, --verbose, -q, --quiet
                             see udtcat --help

Exit status: as udtcat's; 7 where some names could not be had, which are named, and the rest stands.
)";

constexpr const char* kVerify = R"(udtcat verify: holds a directory against a manifest that send or receive has written

  udtcat verify MANIFEST [DIRECTORY]             DIRECTORY (here) is the one that they were received into

Reads all of it, and names each difference: what is missing, and whose content, mode, time or target is another. What is
not in the manifest is not looked at.

  -v, --verbose, -q, --quiet, --stats, --name, --metrics, --status-group, --log-format, --progress, --no-progress
                             see udtcat --help

Exit status: 0 where all of it is the same, 7 where something differs or cannot be read, or MANIFEST is damaged,
2 where MANIFEST is none, or DIRECTORY cannot be opened.
)";

}  // namespace

std::string send_help_text() { return kSend; }
std::string receive_help_text() { return kReceive; }
std::string verify_help_text() { return kVerify; }

}  // namespace udtcat::trees

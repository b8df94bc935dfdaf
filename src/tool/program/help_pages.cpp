// SPDX-License-Identifier: Apache-2.0
#include "tool/program/help_pages.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "lib/core/text.hpp"
#include "tool/cli/exit_status.hpp"

namespace udtcat::tool {

namespace {

constexpr const char* kFirstSteps = R"(an encrypted pipe for long fat networks. Six things that one does:

  a pipe       udtcat -l 9000 > file                         here: it shows a key, and the command for the other host
               udtcat HOST:9000 < file                       there
  files        udtcat receive -l 9000                        here, into this directory: shows a key likewise
               udtcat send DIRECTORY HOST 9000               there; or by ssh's login: udtcat send DIRECTORY HOST:
  a command    udr rsync -a src/ HOST:dst/                   scp, sftp, git, borg likewise, by ssh's login
               udtcat rsh HOST 'tar c /data' > data.tar
  a forward    udtcat -l 9000 --to localhost:5432            beside the service
               udtcat HOST:9000 --from 5432                  beside its clients
  GridFTP      udtcat gridftp get ftp://HOST/path/file .
  keys         (umask 077; mkdir -p ~/.config/udtcat; udtcat keygen > ~/.config/udtcat/key)
               and that file to the other host: both ends use it without being told

udtcat help lists every option, udtcat help TOPIC explains one thing: keys, forward, service, config, why,
exit, or a command)";

constexpr const char* kKeys = R"(Keys: who may be at the other end

A shared key is one line of text that both hosts have. Whoever has it is a peer, and nobody else:

  (umask 077; mkdir -p ~/.config/udtcat; udtcat keygen > ~/.config/udtcat/key)
  ssh HOST 'umask 077; mkdir -p ~/.config/udtcat; cat > ~/.config/udtcat/key' < ~/.config/udtcat/key
                                                             every command uses it from now on, but for
                                                             `gridftp serve`: by --auth key

The first of these that there is counts: -k FILE, $UDTCAT_KEY, X.key beside --config X.conf, a key pair if an option
asks for one or the listener is known by one, ~/.config/udtcat/key. Else a listener shows a new key on its terminal, and
a connector asks for it there. `udtcat rsh` and `udr` need none: ssh's login is enough.

A key pair is of one host or user; the others know its public key, and can take it back one by one:

  udtcat keygen --pair                                       makes ~/.config/udtcat/identity, prints its public key
  udtcat -l 9000 --peers FILE                                FILE has a line for each who may come: NAME PUBLIC-KEY
  udtcat HOST:9000 --peer PUBLIC-KEY                         or --trust-first, or HOST's line in ~/.config/udtcat/peers

More: udtcat(1), "KEYS", and udtcat-keygen(1).
)";

constexpr const char* kForwardPage = R"(Forwards: TCP services, and Unix sockets, across a bad path

  udtcat -l 9000 --to localhost:5432                         beside the service
  udtcat HOST:9000 --from 5432                               beside its clients, who connect to 127.0.0.1:5432

Every connection is a stream of one session, opened without a round trip. Either end may be there first, and come back:
HOST:9000 is dialled again until it is stopped (--once: it is not).

  udtcat -l 9000 --to db=localhost:5432 --to web=unix:/run/web.sock
  udtcat HOST:9000 --from 5432=db --from 8080=web            several services, by name
  udtcat -l 9000 --from 5432=db                              the other way round: beside the clients
  udtcat HOST:9000 --to db=localhost:5432                    beside the service, which dials out

As a service of systemd: udtcat help service. Who is connected: udtcat status. More: udtcat-forward(1).
)";

constexpr const char* kConfig = R"(A command line in a file: a long option a line, without dashes

udtcat --config /etc/udtcat/db.conf, and --check says what it would do.

  listen 9000                # at the other end: host db.example, port 9000
  to localhost:5432
  key-file FILE              # else /etc/udtcat/db.key, if it is there, which the unit udtcat@db always takes
  command gridftp serve      # the words of a command, where it has any

Only its owner and root may be able to write to it. A mistake is named by the file, and by its line where that is no
option; options behind --config FILE count more. More: udtcat.conf(5).
)";

constexpr const char* kService =
    R"(A service of the system, by key pairs: each host has its own key, and can be removed alone

On both hosts, as root; the line that keygen prints is the public key, for the other host:

  install -d /etc/udtcat
  udtcat keygen --pair /etc/udtcat/db.key

Beside the service; db.peers has a line for each host that may come:

  printf 'listen 9000\nto localhost:5432\npeers /etc/udtcat/db.peers\n' > /etc/udtcat/db.conf
  echo 'web PUBLIC-KEY forward' > /etc/udtcat/db.peers

Beside its clients, who connect to 127.0.0.1:5432:

  printf 'host HOST\nport 9000\npeer "PUBLIC-KEY"\nfrom 5432\n' > /etc/udtcat/db.conf

On both:

  udtcat --config /etc/udtcat/db.conf --check                says what it would do, and with which key
  systemctl enable --now udtcat@db                           ready when it listens or holds its port
  systemctl reload udtcat@db                                 when db.peers has changed: who is taken out is cut off
  udtcat status                                              who is connected, how fast, who was refused
)";

constexpr const char* kWhy = R"(Why it is not faster

  udtcat ... --why              at the end: what limited it, and what would help
  kill -USR1 PID                the same of one that runs, of the time since it was last asked, and how far it is
  udtcat status                 of those in service, at this moment
  udtcat bench HOST PORT        beforehand: the path both ways, and both ends

Limited by

  our source, their source      what gives the data gives no more: a disk, a program that writes
  our or their consumer         what takes the data takes no more
  the processor here or there   a thread has all of a core, or waits for one that others have
  the path                      the rate that was found, its round trip, what its queue adds to that, what it loses
  loss, a policer               the path loses packets at any rate, or those beyond one
  --memory, --rate              an option, here or there
  socket buffers                they are too small, or read too late; which sysctl helps, and to what value

The first seconds fill buffers, and are the path's whatever limits later. More: udtcat-status(1), "WHY".
)";

struct HelpPage {
  const char* name;
  const char* text;
};
constexpr std::array<HelpPage, 5> kPages{
    {{"keys", kKeys}, {"forward", kForwardPage}, {"service", kService}, {"config", kConfig}, {"why", kWhy}}};
constexpr const char* kExit = "exit";

}  // namespace

std::string first_steps_text() { return kFirstSteps; }

bool asks_for_help(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != kHelpWord) return false;
  return arguments.size() == 1 || !core::parse_number<std::uint16_t>(arguments[1]);
}

std::optional<std::string> help_page(const std::string& name) {
  if (name == "keygen") return kKeys;
  if (name == kExit) return "Exit status:\n" + exit_status_text();
  const auto* const found = std::ranges::find_if(kPages, [&](const HelpPage& page) { return name == page.name; });
  return found == kPages.end() ? std::nullopt : std::optional<std::string>(found->text);
}

std::vector<std::string> help_page_names() {
  std::vector<std::string> names;
  names.reserve(kPages.size() + 1);
  for (const HelpPage& page : kPages) names.emplace_back(page.name);
  names.emplace_back(kExit);
  return names;
}

}  // namespace udtcat::tool

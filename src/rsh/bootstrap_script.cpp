// SPDX-License-Identifier: Apache-2.0
#include "rsh/bootstrap_script.hpp"

#include <fmt/format.h>

#include "lib/core/invariant.hpp"
#include "tool/shell_words.hpp"

namespace udtcat::rsh {

namespace {

std::string in_double_quotes(const std::string& word) {
  std::string text = "\"";
  for (const char c : word) {
    if (std::string_view("\\\"$`").find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text + '"';
}

/// Says a line, and takes the answer. A command is run as sshd would: bash reads .bashrc only on the first level.
constexpr const char* kAsk =
    "ask() { printf \"\\nUDTCAT %s %s\\n\" \"$1\" \"$2\"; IFS= read -r a || exit 127; "
    "case $a in \"RUN \"*) c=$(printf \"%b.\" \"${a#RUN }\"); SHLVL=1; export SHLVL; "
    "exec \"${SHELL:-/bin/sh}\" -c \"${c%.}\";; esac; }; ";

/// Unpacks $1 bytes into $t, and says each second how much is there. The loop that says so ends with the script, and is
/// killed and waited for before the program runs, whose child it would be. Its `sleep` is left to end by itself,
/// without ssh's stdout.
constexpr const char* kTake =
    "take() { while sleep 1 >/dev/null && kill -0 $$ && n=$(wc -c <\"$t\"); do "
    "printf \"\\nUDTCAT HAVE %d\\n\" $n || break; done 2>/dev/null & "
    "p=$!; head -c \"$1\" | gzip -dc >\"$t\"; r=$?; { kill -9 $p; wait $p; } 2>/dev/null; return $r; }; ";

/// Runs the program that a push has left: its digest is its directory's name, and only this user may change either
/// directory; any other counts as none. One that lacks its libraries is not left to the loader's words. The time of its
/// directory is that of its last use (kTidy).
std::string kept_steps(const std::string& sha256, const std::string& options) {
  return fmt::format(
      "case $XDG_CACHE_HOME in /*) ;; *) XDG_CACHE_HOME=\"$HOME/.cache\";; esac; "
      "d=\"$XDG_CACHE_HOME/udtcat/{0}\"; own() {{ test -O \"${{d%/*}}\" && test -O \"$d\"; }}; "
      "same() {{ test \"$(sha256sum <\"$1\" | cut -c1-64)\" = {0}; }}; "
      "go() {{ touch -c \"$d\" 2>/dev/null; "
      "w=$(\"$d/udtcat\" --version 2>&1) && exec \"$d/udtcat\" rsh-server{1}; "
      "ask UNFIT \"$(echo \"$w\" | head -n 1)\"; exit 127; }}; "
      "own && test -x \"$d/udtcat\" && same \"$d/udtcat\" && go; ",
      sha256, options);
}

/// Removes the builds that no near end has used for a month: directories of this user's with a digest's name, and in
/// them what a push puts there. guess: two near ends with different builds, each of which pushes its own, both come
/// within that.
constexpr const char* kTidy =
    "tidy() { for o in \"${d%/*}\"/*; do case ${o##*/} in *[!0-9a-f]*) continue;; esac; "
    "test ${#o} = ${#d} && test \"$o\" != \"$d\" && test -O \"$o\" && "
    "test \"$(find \"$o\" -prune -type d -mtime +30)\" && "
    "rm -f \"$o\"/udtcat \"$o\"/new.* && rmdir \"$o\"; done 2>/dev/null; }; ";

/// Takes the program where it is sent.
std::string push_steps() {
  return std::string(kTake) + kTidy +
         "t=\"$d/new.$$\"; "
         "for p in head gzip sha256sum; do command -v $p >/dev/null 2>&1 || { ask UNFIT \"no $p\"; exit 127; }; done; "
         "( umask 077; mkdir -p \"$d\" ) && own || { ask UNFIT \"$d is not this user's\"; exit 127; }; "
         "ask MISSING \"$(uname -sm)\"; "
         "case $a in \"PUSH \"*) "
         "( umask 077; take \"${a#PUSH }\" && same \"$t\" && "
         "chmod 700 \"$t\" && mv \"$t\" \"$d/udtcat\" ) && { tidy; go; }; rm -f \"$t\"; "
         "echo \"udtcat ($(uname -n)): could not put the program into $d\" >&2;; esac; exit 127";
}

}  // namespace

std::string bootstrap_script(const BootstrapRequest& request) {
  UDTCAT_INVARIANT(!request.push || request.pushed_sha256, "a program that is sent has a digest");
  std::string options;
  for (const std::string& option : request.options) options += ' ' + in_double_quotes(option);
  const std::string program = in_double_quotes(request.program);
  std::string script = fmt::format("command -v {0} >/dev/null 2>&1 && exec {0} rsh-server{1}; ", program, options);
  script += kAsk;
  if (request.pushed_sha256) script += kept_steps(*request.pushed_sha256, options);
  script += request.push ? push_steps() : "ask MISSING \"$(uname -sm)\"; exit 127";
  return "exec sh -c " + tool::quoted(script);
}

std::string run_answer(std::string_view command) {
  std::string line = "RUN ";
  for (const char c : command) {
    const bool plain = c >= ' ' && c <= '~' && c != '\\';
    line += plain ? std::string(1, c) : fmt::format("\\0{:03o}", static_cast<unsigned char>(c));
  }
  return line + '\n';
}

std::string push_answer(std::size_t packed_bytes) { return fmt::format("PUSH {}\n", packed_bytes); }

}  // namespace udtcat::rsh

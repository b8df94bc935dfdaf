// SPDX-License-Identifier: Apache-2.0
#include "ssh/bootstrap_script.hpp"

#include <fmt/format.h>

#include "lib/core/invariant.hpp"
#include "ssh/connectivity_checks.hpp"
#include "ssh/greeting.hpp"
#include "tool/cli/shell_words.hpp"

namespace udtcat::ssh {

namespace {

std::string in_double_quotes(const std::string& word) {
  std::string text = "\"";
  for (const char c : word) {
    if (std::string_view("\\\"$`").find(c) != std::string_view::npos) text += '\\';
    text += c;
  }
  return text + '"';
}

// Variables begin with udtcat_: one that the user's shell has exported would be changed for the command, too. No "!":
// csh substitutes history for it before a letter, in quotes too.

/// Prints a line and reads the answer. A command is run with SHLVL as sshd would: bash reads .bashrc on level 1 only.
constexpr const char* kAsk =
    "ask() { printf \"\\nUDTCAT %s %s\\n\" \"$1\" \"$2\"; IFS= read -r udtcat_said || exit 127; "
    "case $udtcat_said in \"RUN \"*) udtcat_run=$(printf \"%b.\" \"${udtcat_said#RUN }\"); SHLVL=1; export SHLVL; "
    "exec \"${SHELL:-/bin/sh}\" -c \"${udtcat_run%.}\";; esac; }; ";

/// Unpacks $1 bytes into $udtcat_new, and prints each second how much is there. The loop that prints is killed and
/// waited for before the program runs, whose child it would be. Its `sleep`, without ssh's stdout, ends by itself.
constexpr const char* kTake =
    "take() { while sleep 1 >/dev/null && kill -0 $$ && udtcat_have=$(wc -c <\"$udtcat_new\"); do "
    "printf \"\\nUDTCAT HAVE %d\\n\" $udtcat_have || break; done 2>/dev/null & "
    "udtcat_teller=$!; head -c \"$1\" | gzip -dc >\"$udtcat_new\"; udtcat_took=$?; "
    "{ kill -9 $udtcat_teller; wait $udtcat_teller; } 2>/dev/null; return $udtcat_took; }; ";

/// Runs the program that a push has left, in a directory that has its digest as name and that only this user may write
/// to; any other is ignored, as is one that lacks its libraries. The directory's time is that of its last use (kTidy).
/// For a system of which there is no program $udtcat_sum is empty.
std::string kept_steps(const std::vector<ProgramDigest>& programs, const std::string& exec,
                       const std::string& far_end) {
  std::string choice = "case $(uname -sm) in ";
  for (const auto& each : programs)
    choice += fmt::format("{}) udtcat_sum={};; ", in_double_quotes(each.system), each.sha256_hex);
  return choice + "*) udtcat_sum=;; esac; " +
         fmt::format(
             "udtcat_at=$HOME/.cache; case $XDG_CACHE_HOME in /*) udtcat_at=$XDG_CACHE_HOME;; esac; "
             "udtcat_at=$udtcat_at/udtcat; udtcat_dir=$udtcat_at/$udtcat_sum; "
             "own() {{ test -O \"$udtcat_at\" && test -O \"$udtcat_dir\" && "
             "test $(find \"$udtcat_at\" \"$udtcat_dir\" -prune -type d ! -perm -20 ! -perm -2 2>/dev/null | wc -l) = "
             "2; }}; "
             "same() {{ test \"$(sha256sum <\"$1\" | cut -c1-64)\" = $udtcat_sum; }}; "
             "go() {{ udtcat_said=$(\"$udtcat_dir/udtcat\" --version 2>&1) && {1} \"$udtcat_dir/udtcat\" {0}; "
             "ask UNFIT \"$(echo \"$udtcat_said\" | head -n 1)\"; exit 127; }}; "
             "test \"$udtcat_sum\" && own && test -x \"$udtcat_dir/udtcat\" && {{ touch -c \"$udtcat_dir\" "
             "2>/dev/null; same \"$udtcat_dir/udtcat\"; "
             "}} "
             "&& go; ",
             far_end, exec);
}

/// Removes pushed programs that no near end has used for a month, and what interrupted pushes have left: only this
/// user's directories with a digest as name. guess: near ends that push different builds all come within a month.
constexpr const char* kTidy =
    "tidy() { find \"$udtcat_dir\" -name \"new.*\" -mtime +0 -exec rm -f {} +; "
    "for udtcat_old in \"$udtcat_at\"/*; do "
    "test -z \"$(printf %s \"${udtcat_old##*/}\" | tr -d 0-9a-f)\" && test ${#udtcat_old} = ${#udtcat_dir} && "
    "test \"$udtcat_old\" != \"$udtcat_dir\" && test -O \"$udtcat_old\" && "
    "test \"$(find \"$udtcat_old\" -prune -type d -mtime +30)\" && "
    "rm -f \"$udtcat_old\"/udtcat \"$udtcat_old\"/new.* && rmdir \"$udtcat_old\"; done; } 2>/dev/null; ";

/// Receives a program, where one may be pushed.
std::string push_steps() {
  return std::string(kTake) + kTidy +
         "udtcat_new=$udtcat_dir/new.$$; "
         "test \"$udtcat_sum\" || { ask MISSING \"$(uname -sm)\"; exit 127; }; "
         "for udtcat_tool in head gzip sha256sum find; do command -v $udtcat_tool >/dev/null 2>&1 || "
         "{ ask UNFIT \"no $udtcat_tool\"; exit 127; }; done; "
         "( umask 077; mkdir -p \"$udtcat_dir\"; chmod go-w \"$udtcat_at\" \"$udtcat_dir\" ) 2>/dev/null; "
         "own || { ask UNFIT \"$udtcat_dir is not this user's\"; exit 127; }; "
         "ask MISSING \"$(uname -sm)\"; "
         "case $udtcat_said in \"PUSH \"*) "
         "( umask 077; take \"${udtcat_said#PUSH }\" && same \"$udtcat_new\" && "
         "chmod 700 \"$udtcat_new\" && mv \"$udtcat_new\" \"$udtcat_dir/udtcat\" ) && { tidy; go; }; "
         "rm -f \"$udtcat_new\"; "
         "echo \"udtcat ($(uname -n)): could not put the program into $udtcat_dir\" >&2;; esac; exit 127";
}

}  // namespace

std::string bootstrap_script(const BootstrapRequest& request) {
  UDTCAT_INVARIANT(!request.push || !request.pushed.empty(), "a program that is sent has a digest");
  std::string far_end = request.command;
  for (const std::string& option : request.options) far_end += ' ' + in_double_quotes(option);
  const std::string program = in_double_quotes(request.program);
  // In the environment, since an older far end does not know an option of ours.
  const std::string exec = fmt::format("{}={} exec", NearEnd::kVariable, in_double_quotes(request.near_end));
  std::string script = fmt::format("printf \"\\n{3}\\n\"; command -v {0} >/dev/null 2>&1 && {2} {0} {1}; ", program,
                                   far_end, exec, kScriptLine);
  script += kAsk;
  if (!request.pushed.empty()) script += kept_steps(request.pushed, exec, far_end);
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

}  // namespace udtcat::ssh

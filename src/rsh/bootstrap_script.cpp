// SPDX-License-Identifier: Apache-2.0
#include "rsh/bootstrap_script.hpp"

#include <string_view>

#include <fmt/format.h>

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

/// The program in the cache has the digest of its name, or is replaced. One that lacks its libraries there is not left
/// to the loader's words.
std::string push_steps(const PushedProgram& push, const std::string& options) {
  return fmt::format(
      "d=\"${{XDG_CACHE_HOME:-$HOME/.cache}}/udtcat/{1}\"; "
      "go() {{ why=$(\"$d/udtcat\" --version 2>&1) && exec \"$d/udtcat\" rsh-server{2}; "
      "echo \"udtcat: the program that was pushed does not run here: $why; push one that needs no libraries, "
      "udtcat-static beside udtcat (cmake --preset static), or install udtcat here\" >&2; exit 127; }}; "
      "test -x \"$d/udtcat\" && test \"$(sha256sum <\"$d/udtcat\" | cut -c1-64)\" = {1} && go; "
      "printf \"\\nUDTCAT MISSING %s\\n\" \"$(uname -sm)\"; "
      "t=\"$d/new.$$\"; "
      "( umask 077; mkdir -p \"$d\" && head -c {0} >\"$t\" && "
      "test \"$(sha256sum <\"$t\" | cut -c1-64)\" = {1} && chmod 700 \"$t\" && mv \"$t\" \"$d/udtcat\" ) && go; "
      "rm -f \"$t\"; "
      "echo \"udtcat: could not put the program into $d\" >&2; exit 127",
      push.size_bytes, push.sha256_hex, options);
}

}  // namespace

std::string bootstrap_script(const BootstrapRequest& request) {
  std::string options;
  for (const std::string& option : request.options) options += ' ' + in_double_quotes(option);
  const std::string program = in_double_quotes(request.program);
  std::string script = fmt::format("command -v {0} >/dev/null 2>&1 && exec {0} rsh-server{1}; ", program, options);
  script += request.push ? push_steps(*request.push, options)
                         : std::string("printf \"\\nUDTCAT MISSING %s\\n\" \"$(uname -sm)\"; exit 127");
  return "exec sh -c " + tool::quoted(script);
}

}  // namespace udtcat::rsh

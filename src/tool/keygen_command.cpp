/// udtcat keygen: a new key on stdout.
#include <string>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <udtcat/key.hpp>

#include "lib/core/secret_text.hpp"
#include "tool/commands.hpp"
#include "tool/signal_watch.hpp"

namespace udtcat::tool {

namespace {

/// The shell makes files that others can read, unless it is told; --key-file would refuse this one.
void warn_of_open_file(Console& console) {
  struct stat about {};
  if (::fstat(STDOUT_FILENO, &about) != 0 || !S_ISREG(about.st_mode)) return;
  const mode_t mode = about.st_mode & 07777U;
  if ((mode & (S_IRWXG | S_IRWXO)) != 0)
    console.line(
        fmt::format("udtcat: warning: others can read the file that the key is written to ({:04o}); --key-file takes "
                    "it after chmod 600",
                    mode));
}

}  // namespace

ExitStatus keygen_command(Console& console) {
  const SignalsLetThrough meanwhile;
  const auto key = Key::generate();
  Status printed;
  if (key) {
    const core::SecretText line(key->reveal_text() + "\n");
    printed = print(line.view());
  }
  const Error* error = !key ? &key.error() : !printed ? &printed.error() : nullptr;
  if (error != nullptr) {
    console.line("udtcat: " + error->message());
    return exit_status_of(error->code);
  }
  warn_of_open_file(console);
  return ExitStatus::success;
}

}  // namespace udtcat::tool

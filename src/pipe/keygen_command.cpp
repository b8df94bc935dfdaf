// SPDX-License-Identifier: Apache-2.0
#include "pipe/commands.hpp"

#include <array>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <pwd.h>
#include <unistd.h>

#include <udtcat/key_pair.hpp>

#include "lib/core/secret_text.hpp"
#include "lib/core/try.hpp"
#include "lib/core/user_text.hpp"
#include "pipe/pipe_options.hpp"
#include "tool/cli/signal_watch.hpp"
#include "tool/cli/user_files.hpp"

namespace udtcat::pipe {

namespace {

constexpr unsigned kSecretMode = 0600;
constexpr unsigned kPublicMode = 0644;

std::string comment_of_user() {
  const passwd* user = ::getpwuid(::geteuid());
  std::array<char, 256> host{};  // spec: POSIX HOST_NAME_MAX, with its end
  if (::gethostname(host.data(), host.size() - 1) != 0) host.front() = '\0';
  return std::string(user != nullptr ? user->pw_name : "uid" + std::to_string(::geteuid())) + "@" + host.data();
}

class KeygenInvocation final : public tool::Invocation {
 public:
  explicit KeygenInvocation(std::optional<std::string> file) : file_(std::move(file)) {}

  [[nodiscard]] const tool::Options& options() const override { return options_; }
  [[nodiscard]] bool needs_key() const override { return false; }
  [[nodiscard]] tool::ExitStatus run(tool::FoundCredentials /*none*/, const tool::RunContext& context) override {
    const tool::UnblockedSignals meanwhile;
    const auto file = file_ ? std::optional<std::filesystem::path>(*file_) : tool::user_file("identity");
    Result<std::string> line = fail(Errc::bad_argument, "udtcat keygen --pair", "there is no $HOME; name a file");
    if (file) line = make_pair_of_files(*file, comment_of_user());
    if (line) return tool::printed(*line, context.console);
    context.console.line("udtcat: " + line.error().message());
    return tool::exit_status_of(line.error().code);
  }

 private:
  const tool::Options options_;
  const std::optional<std::string> file_;
};

Result<std::unique_ptr<tool::Invocation>> parse_keygen_pair(const tool::Words& arguments) {
  tool::CommandLine line("udtcat keygen --pair");
  UDTCAT_CHECK(line.read(arguments));
  if (line.wants_help()) return nullptr;
  if (line.operands().size() > 1) return tool::misplaced("keygen --pair", "allowed: one FILE");
  std::optional<std::string> file;
  if (!line.operands().empty()) file = line.operands().front();
  return std::make_unique<KeygenInvocation>(std::move(file));
}

}  // namespace

Result<std::string> make_pair_of_files(const std::filesystem::path& file, const std::string& comment) {
  const std::filesystem::path public_file = file.string() + ".pub";
  std::error_code why;
  if (std::filesystem::exists(std::filesystem::symlink_status(public_file, why)))
    return fail(Errc::bad_argument, "write " + public_file.string(),
                "it is there already, and is not overwritten: give another name, or move it away");
  if (why && !tool::is_missing(public_file))
    return core::fail_by_errno(Errc::local_write_failed, "write " + public_file.string(), why.value());
  auto pair = KeyPair::from_file(file.string());  // without its public half where a power cut came in between
  if (!pair) {
    UDTCAT_TRY(pair, KeyPair::generate());
    const core::SecretText secret(pair->reveal_text() + "\n");
    UDTCAT_CHECK(tool::make_private_directory_of(file));
    UDTCAT_CHECK(tool::write_new_file(file, secret.view(), kSecretMode));
  }
  const std::string line = pair->public_key().to_string() + " " + comment + "\n";
  UDTCAT_CHECK(tool::write_new_file(public_file, line, kPublicMode));
  return line;
}

tool::Command keygen_pair_command() {
  return {.words = {"keygen", "--pair"},
          .help = help_text,
          .parse = parse_keygen_pair,
          .options = [] { return tool::CommandLine("udtcat keygen --pair").declared(); },
          .operands = ":file"};
}

}  // namespace udtcat::pipe

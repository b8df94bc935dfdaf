// SPDX-License-Identifier: Apache-2.0
/// wanlab: a wide-area link between two network namespaces of this machine. bench/wan/README.md says how to use it.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

#include <CLI/CLI.hpp>

#include "wan/lab.hpp"

namespace udtcat::wan {
namespace {

constexpr auto kPurpose =
    "Joins two network namespaces by an emulated wide-area link, and runs COMMAND at the near end.\n\n"
    "  wanlab [options] [--far 'SHELL COMMAND'] -- COMMAND...\n"
    "  wanlab [options] --hold\n"
    "  wanlab on near|far [--lab PID] -- COMMAND...\n"
    "  wanlab tell [--lab PID] outage on|off [PATH] | address near|far | set [PATH:]NAME VALUE | stats\n"
    "  wanlab --clean\n";
constexpr int kUsage = 2;
constexpr int kFailed = 3;

int complain(const Error& error) {
  std::cerr << "wanlab: " << error.message() << std::endl;
  return error.code == Errc::bad_argument ? kUsage : kFailed;
}

struct Arguments {
  std::map<std::string, std::string> link;  // by the names that set() knows
  LabOptions lab;
  std::size_t paths = 1;
  std::vector<std::string> path_settings;
  std::vector<std::string> sysctls;
  std::vector<std::string> command;
  pid_t lab_pid = 0;
  std::string end;
  bool hold = false;
  bool clean = false;
};

void add_link_options(CLI::App& app, Arguments& arguments) {
  for (const auto& [name, text] : settings())
    app.add_option("--" + name, arguments.link[name], text)->group("Link; A/B: near to far A, far to near B");
  app.add_option(
         "--paths", arguments.paths,
         "so many links side by side, each with these settings; a flow of TCP or UDP takes one, by a hash of its "
         "5-tuple, the same both ways, and all other packets the first")
      ->check(CLI::Range(std::size_t{1}, kMostPaths))
      ->capture_default_str();
  app.add_option("--path", arguments.path_settings,
                 "PATH:NAME=VALUE: a setting of one of them, counted from 1: 2:loss=5%; more than once")
      ->allow_extra_args(false);
}

void add_lab_options(CLI::App& app, Arguments& arguments) {
  app.add_option("--mtu", arguments.lab.mtu_bytes, "of both devices")
      ->check(CLI::Range(1280, 65535))
      ->capture_default_str();
  app.add_option("--seed", arguments.lab.seed, "of chance: the same traffic meets the same fate")
      ->capture_default_str();
  app.add_option("--sysctl", arguments.sysctls,
                 "NAME=VALUE, at both ends: net.ipv4.tcp_rmem=\"4096 131072 536870912\"");
  app.add_option("--far", arguments.lab.far_command,
                 "a shell command for the far end, started before COMMAND and ended after it");
  app.add_flag("--hold", arguments.hold, "no COMMAND: print where the ends are, and wait for SIGINT or SIGTERM");
  app.add_flag("--quiet", arguments.lab.quiet, "no summary at the end");
  app.add_flag("--clean", arguments.clean, "remove what labs that were killed have left behind, and exit");
}

Status apply(Arguments& arguments) {
  arguments.lab.paths.resize(arguments.paths);
  for (const auto& [name, text] : settings())
    if (const std::string& value = arguments.link[name]; !value.empty())
      if (auto applied = set(arguments.lab.paths, name, value); !applied) return applied;
  for (const std::string& setting : arguments.path_settings)
    if (auto applied = set_of_one_path(arguments.lab.paths, setting); !applied) return applied;
  for (const std::string& sysctl : arguments.sysctls) {
    const auto equals = sysctl.find('=');
    if (equals == std::string::npos || sysctl.rfind("net.", 0) != 0 || sysctl.find('/') < equals)
      return fail(Errc::bad_argument, "--sysctl \"" + sysctl + "\"", "allowed: net.NAME=VALUE");
    arguments.lab.sysctls.emplace_back(sysctl.substr(0, equals), sysctl.substr(equals + 1));
  }
  for (const PathSettings& path : arguments.lab.paths)
    if (auto possible = check(path); !possible) return possible;
  arguments.lab.near_command = arguments.command;
  if (arguments.command.empty() != arguments.hold)
    return fail(Errc::bad_argument, "start a lab", "give either -- COMMAND or --hold");
  return {};
}

int run_lab(Arguments& arguments) {
  if (auto applied = apply(arguments); !applied) return complain(applied.error());
  auto lab = Lab::create(arguments.lab);
  if (!lab) return complain(lab.error());
  const auto status = (*lab)->run();
  return status ? *status : complain(status.error());
}

/// A lab that was killed leaves at most processes in its namespaces; with them these and their devices go.
int clean() {
  const auto records = read_records();
  if (!records) return complain(records.error());
  for (const LabRecord& record : *records) {
    if (record.is_running()) continue;
    clean_up_after(record);
    std::cerr << "wanlab: cleaned up after " << record.pid << std::endl;
  }
  return 0;
}

Result<LabRecord> meant_lab(const Arguments& arguments) {
  const char* inherited = std::getenv("WANLAB_PID");
  if (arguments.lab_pid != 0) return find_lab(arguments.lab_pid);
  return find_lab(inherited != nullptr ? std::optional<pid_t>(std::atoi(inherited)) : std::nullopt);
}

/// Arguments after "--" have come to the program itself, those before it to the subcommand.
int run_at_end(const Arguments& arguments, std::vector<std::string> command) {
  command.insert(command.end(), arguments.command.begin(), arguments.command.end());
  if (command.empty()) return complain({Errc::bad_argument, "run at an end of a lab", "give -- COMMAND"});
  const auto end = parse_end(arguments.end);
  const auto lab = meant_lab(arguments);
  if (!lab) return complain(lab.error());
  if (auto entered = enter(*lab, *end); !entered) return complain(entered.error());
  return complain(exec_program(command));
}

/// The files of a trace, "A,B", as the lab finds them, which was started in another directory.
std::string absolute(const std::string& files) {
  const auto comma = std::min(files.find(','), files.size());
  const auto one = [](const std::string& file) {
    std::error_code error;  // without a directory we are nowhere: the lab will say that there is no such file
    return file.empty() ? file : std::filesystem::absolute(file, error).string();
  };
  return one(files.substr(0, comma)) + (comma < files.size() ? "," + one(files.substr(comma + 1)) : "");
}

int tell_lab(const Arguments& arguments, const std::vector<std::string>& told) {
  const auto lab = meant_lab(arguments);
  if (!lab) return complain(lab.error());
  const bool names_files = told.size() == 3 && told[0] == "set" && (told[1] == "trace" || told[1].ends_with(":trace"));
  std::string words;
  for (const std::string& word : told)
    words += (words.empty() ? "" : " ") + (names_files && &word == &told.back() ? absolute(word) : word);
  const auto answer = ask(lab->control_path(), words);
  if (!answer) return complain(answer.error());
  const bool understood = *answer == "ok" || answer->front() == '{';
  (understood ? std::cout : std::cerr) << *answer << std::endl;
  return understood ? 0 : kUsage;
}

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(kPurpose, "wanlab");
  app.footer(
      "COMMAND finds $WANLAB_NEAR4, $WANLAB_FAR4, $WANLAB_NEAR6, $WANLAB_FAR6 and $WANLAB_PID in its environment. "
      "SIGUSR1 begins\n"
      "and ends an outage, SIGUSR2 changes the near end's address. The exit status is COMMAND's.");
  add_link_options(app, arguments);
  add_lab_options(app, arguments);
  app.add_option("command", arguments.command, "what to run at the near end");
  app.positionals_at_end();

  CLI::App& on = *app.add_subcommand("on", "run COMMAND at an end of a running lab");
  on.add_option("end", arguments.end, "near or far")->required()->check(CLI::IsMember({"near", "far"}));
  on.add_option("--lab", arguments.lab_pid, "which, if several run");
  on.prefix_command();  // or options of COMMAND's would be taken for ours
  CLI::App& tell = *app.add_subcommand("tell", "change a running lab, or ask how it fares");
  tell.add_option("--lab", arguments.lab_pid, "which, if several run");
  tell.prefix_command();  // or "outage on" would be taken for the other subcommand
  CLI11_PARSE(app, argc, argv);

  if (on) return run_at_end(arguments, on.remaining());
  if (tell) return tell_lab(arguments, tell.remaining());
  if (arguments.clean) return clean();
  return run_lab(arguments);
}

}  // namespace
}  // namespace udtcat::wan

int main(int argc, char** argv) { return udtcat::wan::main(argc, argv); }

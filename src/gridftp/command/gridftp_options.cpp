#include "gridftp/command/gridftp_options.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "lib/core/printable.hpp"
#include "tool/option_values.hpp"
#include "tool/written_options.hpp"

namespace udtcat::tool {

namespace {

using gridftp::DataKind;

constexpr std::size_t kMostParallelism = 64;  // guess: as many as Globus sites allow
constexpr std::size_t kMostStripes = 64;      // guess
constexpr std::size_t kMostRetries = 1'000'000;

tl::unexpected<Error> misplaced(const std::string& what, std::string why) {
  return fail(Errc::bad_argument, what, std::move(why));
}

/// "A-B": the bytes from A up to, and not including, B.
Result<gridftp::ByteRange> range_value(const std::string& text) {
  const auto ranges = gridftp::ByteRanges::parse(text);
  if (!ranges || ranges->size() != 1)
    return bad_value("--range", text, "A-B, the bytes from A up to, and not including, B, as in 0-1048576");
  return ranges->ranges().front();
}

std::string last_word(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

Status read_get(const std::vector<std::string>& words, GridftpOptions& options) {
  if (words.size() < 2) return misplaced("gridftp get", "needs a URL and a file, as in get ftp://host/path FILE");
  const std::string& target = words.back();
  std::error_code ignored;
  const bool directory = target.ends_with('/') || std::filesystem::is_directory(target, ignored);
  if (words.size() > 2 && !directory)
    return misplaced("gridftp get", fmt::format("several files go into a directory, and {} is none", target));
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    auto url = gridftp::parse_ftp_url(words[i]);
    if (!url) return tl::unexpected(std::move(url.error()));
    const std::string name = last_word(url->path);
    if (directory && (name.empty() || name == "." || name == ".."))
      return misplaced("gridftp get " + words[i], "it names no file");
    const std::string local = directory ? (std::filesystem::path(target) / name).string() : target;
    if (std::ranges::any_of(options.files, [&](const GridftpFile& file) { return file.local == local; }))
      return misplaced("gridftp get", "two of the files would be " + local);
    options.files.push_back({std::move(*url), local});
  }
  return {};
}

Status read_put(const std::vector<std::string>& words, GridftpOptions& options) {
  if (words.size() < 2) return misplaced("gridftp put", "needs a file and a URL, as in put FILE ftp://host/path");
  const auto target = gridftp::parse_ftp_url(words.back());
  if (!target) return tl::unexpected(target.error());
  const bool directory = target->path.ends_with('/');
  if (words.size() > 2 && !directory)
    return misplaced("gridftp put", "several files go into a directory: a URL that ends with /");
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    gridftp::FtpUrl url = *target;
    if (directory && words[i] == kStdio) return misplaced("gridftp put -", "stdin has no name: the URL has to say it");
    if (directory) url.path += last_word(words[i]);
    if (!gridftp::can_be_said(url.path))
      return misplaced("gridftp put " + core::printable(words[i], core::kShownBytes),
                       "its name has a line end or 0xFF, which FTP cannot carry: give the URL another name");
    if (std::ranges::any_of(options.files, [&](const GridftpFile& file) { return file.remote.path == url.path; }))
      return misplaced("gridftp put", "two of the files would be " + url.to_string());
    options.files.push_back({std::move(url), words[i]});
  }
  return {};
}

Status read_copy(const std::vector<std::string>& words, GridftpOptions& options) {
  if (words.size() != 2) return misplaced("gridftp copy", "needs two URLs, as in copy ftp://a/path ftp://b/path");
  auto from = gridftp::parse_ftp_url(words[0]);
  if (!from) return tl::unexpected(std::move(from.error()));
  auto to = gridftp::parse_ftp_url(words[1]);
  if (!to) return tl::unexpected(std::move(to.error()));
  if (from->to_string() == to->to_string()) return misplaced("gridftp copy", "the two URLs are the same file");
  options.from = std::move(*from);
  options.to = std::move(*to);
  if (options.to.path.ends_with('/')) options.to.path += last_word(options.from.path);
  return {};
}

Status read_serve(const WrittenOptions& written, const std::vector<std::string>& words, GridftpOptions& options) {
  if (!written.root) return misplaced("gridftp serve", "needs --root DIR, the directory that is served");
  if (words.size() != (written.listen ? 1U : 0U))
    return misplaced("gridftp serve", "is written serve --root DIR [-l [ADDR:]PORT]");
  auto local = local_address_value("-l", written.listen ? words.front() : std::to_string(gridftp::kDefaultPort));
  if (!local) return tl::unexpected(std::move(local.error()));
  options.common.local = std::move(*local);
  options.root = *written.root;
  options.listen_written = written.listen;
  options.read_only = written.read_only;
  options.anonymous_writable = written.anonymous_writable;
  options.third_party = written.third_party;
  if (options.read_only && options.anonymous_writable)
    return misplaced("gridftp serve", "--read-only and --anonymous-writable contradict each other");
  if (!written.auth) return {};
  if (*written.auth != "anonymous" && *written.auth != "key")
    return bad_value("--auth", *written.auth, "anonymous, key");
  options.auth = *written.auth == "key" ? ServeAuth::key : ServeAuth::anonymous;
  if (options.auth == ServeAuth::anonymous) return {};
  options.protection_written = true;
  return {};
}

Status read_verb(const WrittenOptions& written, GridftpOptions& options) {
  const std::string verb = written.operands.empty() ? "" : written.operands.front();
  const std::vector<std::string> words(written.operands.begin() + (verb.empty() ? 0 : 1), written.operands.end());
  const bool serves = verb == "serve";
  if (written.plain || written.to || written.from || written.exec || written.send_only || written.recv_only)
    return misplaced("--plain, --to, --from, --exec, --send-only or --recv-only", "not for gridftp " + verb);
  if (written.rate && (verb == "get" || verb == "copy"))
    return misplaced("--rate and gridftp " + verb, "it limits what is sent: give it to the server that sends");
  if (!serves && (written.root || written.auth || written.read_only || written.anonymous_writable ||
                  written.third_party || written.listen))
    return misplaced("gridftp " + verb,
                     "-l, --root, --auth, --read-only, --anonymous-writable and --third-party are for serve");
  if (serves && (written.parallelism || written.stripes || written.range || written.retries || written.clear_control))
    return misplaced("gridftp serve", "-p, -s, --range, --retries and --clear-control are the client's to say");
  options.clear_control = written.clear_control;
  if (verb == "get") {
    options.verb = GridftpVerb::get;
    return read_get(words, options);
  }
  if (verb == "put") {
    options.verb = GridftpVerb::put;
    return read_put(words, options);
  }
  if (verb == "copy") {
    options.verb = GridftpVerb::copy;
    return read_copy(words, options);
  }
  if (!serves) return misplaced("gridftp \"" + verb + "\"", "the verbs are get, put, copy, serve and gateway");
  options.verb = GridftpVerb::serve;
  return read_serve(written, words, options);
}

Status read_numbers(const WrittenOptions& written, gridftp::TransferOptions& transfer) {
  const auto read = [](const char* name, const WrittenOptions::Text& text, std::size_t least, std::size_t most,
                       std::size_t& target) -> Status {
    if (!text) return {};
    const auto value = number_value(name, *text, least, most);
    if (!value) return tl::unexpected(value.error());
    target = *value;
    return {};
  };
  if (auto status = read("--parallelism", written.parallelism, 1, kMostParallelism, transfer.parallelism); !status)
    return status;
  if (auto status = read("--stripes", written.stripes, 1, kMostStripes, transfer.stripes); !status) return status;
  if (auto status = read("--retries", written.retries, 0, kMostRetries, transfer.retries); !status) return status;
  if (!written.range) return {};
  const auto range = range_value(*written.range);
  if (!range) return tl::unexpected(range.error());
  transfer.range = *range;
  return {};
}

Status read_over(const WrittenOptions& written, GridftpOptions& options) {
  options.protection_written =
      options.protection_written || written.key_file || written.protect || written.cipher || written.as || written.peer;
  if (!written.over) return {};
  if (*written.over == "tcp") options.over = DataKind::tcp;
  if (*written.over == "udt") options.over = DataKind::udt;
  if (*written.over == "session") options.over = DataKind::session;
  if (!options.over) return bad_value("--over", *written.over, "tcp, udt, session");
  // Protection that was asked for is not dropped without a word.
  if (options.over != DataKind::session && options.protection_written && written.protect != "clear")
    return misplaced(
        fmt::format("--over {}", *written.over),
        "nothing is protected over it; a key, --protect, --cipher, --as and --peer go with --over session");
  return {};
}

Status settle_audience(GridftpOptions& options, bool has_key) {
  if (!options.auth) options.auth = has_key ? ServeAuth::key : ServeAuth::anonymous;
  if (options.auth == ServeAuth::key && options.anonymous_writable)
    return misplaced("gridftp serve --anonymous-writable",
                     "with a key only who has it comes in; --auth anonymous lets the others in");
  if (options.auth == ServeAuth::key) return {};
  options.read_only = !options.anonymous_writable;
  if (!options.listen_written)
    options.common.local.host = options.common.family == AddressFamily::ipv6 ? "::1" : "127.0.0.1";
  return {};
}

std::vector<const gridftp::FtpUrl*> urls_of(const GridftpOptions& options) {
  if (options.verb == GridftpVerb::copy) return {&options.from, &options.to};
  std::vector<const gridftp::FtpUrl*> urls;
  for (const GridftpFile& file : options.files) urls.push_back(&file.remote);
  return urls;
}

/// A key proves the data; what they are is said on the control connection.
Status check_control(GridftpOptions& options, bool protects) {
  const auto urls = urls_of(options);
  const auto clear = std::ranges::find_if(urls, [](const gridftp::FtpUrl* url) { return !url->sealed; });
  const bool unproved = protects && clear != urls.end();
  if (options.clear_control && !unproved) return misplaced("--clear-control", "it goes with a key and an ftp:// URL");
  if (!unproved) return {};
  if (!options.clear_control)
    return fail(
        Errc::parameters_refused, "protect " + core::printable((*clear)->to_string(), core::kShownBytes),
        "a key proves the data, but not the name, the range, the size and the replies on a control connection in the "
        "clear: udtcat://HOST/PATH has a server of ours seal that too (serve --auth key); --clear-control does "
        "without");
  if (options.common.session.protection >= Protection::safe)
    options.transfer.data.session.statements = Statements::wanted;
  return {};
}

}  // namespace

Result<GridftpOptions> parse_gridftp_options(const std::vector<std::string>& arguments) {
  std::vector<const char*> argv{"udtcat gridftp"};
  for (const std::string& word : arguments) argv.push_back(word.c_str());
  const auto written = split_command_line(static_cast<int>(argv.size()), argv.data(), Dialect::gridftp);
  if (!written) return tl::unexpected(written.error());
  GridftpOptions options;
  if (written->help) return options;
  if (auto status = read_common_options(*written, options.common); !status)
    return tl::unexpected(std::move(status.error()));
  if (auto status = read_numbers(*written, options.transfer); !status) return tl::unexpected(std::move(status.error()));
  if (auto status = read_verb(*written, options); !status) return tl::unexpected(std::move(status.error()));
  if (auto status = read_over(*written, options); !status) return tl::unexpected(std::move(status.error()));
  return options;
}

Status settle_protection(GridftpOptions& options, bool has_environment_key) {
  // A server without a key serves clear data; what a client of it asks for is the client's affair.
  const bool serves = options.verb == GridftpVerb::serve;
  const auto urls = urls_of(options);
  const bool sealed = std::ranges::any_of(urls, &gridftp::FtpUrl::sealed);
  const bool wants = options.protection_written || sealed || (has_environment_key && (!options.over || serves));
  const DataKind kind = options.over.value_or(wants ? DataKind::session : DataKind::tcp);
  options.transfer.data.kind = kind;
  if (serves)
    if (auto settled = settle_audience(options, wants); !settled) return settled;
  auto& level = options.common.session.protection;
  if (serves && wants) options.least = level;
  // Who has a key and wants nothing for it still offers what it can give.
  if (serves && wants && level == Protection::clear) level = Protection::private_;
  if (serves ? !wants : kind != DataKind::session && !sealed) level = Protection::clear;
  options.transfer.data.session = options.common.session;
  if (serves) options.transfer.data.session.statements = Statements::made;
  if (auto fine = check_control(options, kind == DataKind::session && level > Protection::clear); !fine) return fine;
  // The key of a copy is the servers' own.
  if (options.verb == GridftpVerb::copy && !sealed) options.common.session.protection = Protection::clear;
  options.transfer.data.session.purpose = Purpose::driver;
  options.transfer.data.session.sends = options.transfer.data.session.receives = true;
  options.transfer.data.transport = options.common.transport;
  options.transfer.data.connect_patience = options.common.connect_timeout;
  return {};
}

}  // namespace udtcat::tool

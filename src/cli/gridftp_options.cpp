#include "cli/gridftp_options.hpp"

#include "cli/option_values.hpp"
#include "cli/written_options.hpp"

namespace udtcat::cli {

namespace {

constexpr std::size_t kMostParallelism = 64;  // guess: as many as Globus sites allow

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

Status read_verb(const std::vector<std::string>& operands, GridftpOptions& options) {
  const std::string verb = operands.empty() ? "" : operands.front();
  const bool get = verb == "get";
  if (!get && verb != "put") return misplaced("gridftp \"" + verb + "\"", "the verbs are get and put");
  options.verb = get ? GridftpVerb::get : GridftpVerb::put;
  constexpr std::size_t kWords = 3;
  if (operands.size() != kWords)
    return misplaced("gridftp " + verb, get ? "needs a URL and a file, as in get ftp://host/path FILE"
                                            : "needs a file and a URL, as in put FILE ftp://host/path");
  auto url = gridftp::parse_ftp_url(operands[get ? 1 : 2]);
  if (!url) return tl::unexpected(std::move(url.error()));
  options.remote = std::move(*url);
  options.file = operands[get ? 2 : 1];
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
  if (written->parallelism) {
    auto count = number_value("--parallelism", *written->parallelism, 1, kMostParallelism);
    if (!count) return tl::unexpected(std::move(count.error()));
    options.transfer.parallelism = *count;
  }
  if (written->range) {
    auto range = range_value(*written->range);
    if (!range) return tl::unexpected(std::move(range.error()));
    options.transfer.range = *range;
  }
  if (auto status = read_verb(written->operands, options); !status) return tl::unexpected(std::move(status.error()));
  return options;
}

}  // namespace udtcat::cli

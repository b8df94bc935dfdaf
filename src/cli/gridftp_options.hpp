/// The command line of `udtcat gridftp`.
#pragma once

#include <string>
#include <vector>

#include <udtcat/result.hpp>

#include "cli/options.hpp"
#include "gridftp/transfer.hpp"
#include "gridftp/url.hpp"

namespace udtcat::cli {

enum class GridftpVerb { help, get, put };

struct GridftpOptions {
  GridftpVerb verb = GridftpVerb::help;
  gridftp::FtpUrl remote;
  std::string file;  ///< the local one
  gridftp::TransferOptions transfer;
  Options common;  ///< output and times
};

/// `arguments` without the program and the word gridftp.  errors: Errc::bad_argument
[[nodiscard]] Result<GridftpOptions> parse_gridftp_options(const std::vector<std::string>& arguments);

}  // namespace udtcat::cli

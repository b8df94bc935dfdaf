/// The command line of `udtcat gridftp`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <udtcat/result.hpp>

#include "gridftp/client/transfer.hpp"
#include "gridftp/dialogue/url.hpp"
#include "tool/options.hpp"

namespace udtcat::tool {

/// The name of a local file that is stdin or stdout.
inline constexpr const char* kStdio = "-";

enum class GridftpVerb { help, get, put, copy, serve };

/// One file of `get` or `put`. "-" is stdin or stdout.
struct GridftpFile {
  gridftp::FtpUrl remote;
  std::string local;
};

/// Who may come in to `serve`.
enum class ServeAuth { anonymous, key };

struct GridftpOptions {
  GridftpVerb verb = GridftpVerb::help;
  std::vector<GridftpFile> files;         ///< get, put
  gridftp::FtpUrl from, to;               ///< copy
  std::string root;                       ///< serve
  bool listen_written = false;            ///< serve: with an address; otherwise strangers are served on loopback only
  bool read_only = false;                 ///< serve
  bool anonymous_writable = false;        ///< serve: strangers may change files
  bool third_party = false;               ///< serve: data may go to other hosts than the client's
  std::optional<ServeAuth> auth;          ///< serve; none: what having a key asks for
  Protection least = Protection::clear;   ///< serve: of the data
  std::optional<gridftp::DataKind> over;  ///< none: what protection asks for
  bool protection_written = false;        ///< a key or a level was asked for
  bool clear_control = false;             ///< a key, and yet a control connection in the clear
  gridftp::TransferOptions transfer;
  Options common;  ///< key, protection, session, transport, output, times; serve: where to listen
};

/// `arguments` without the program and the word gridftp.  errors: Errc::bad_argument
[[nodiscard]] Result<GridftpOptions> parse_gridftp_options(const std::vector<std::string>& arguments);

/// Settles what the data run over, and so whether a key is needed: a user who has one, or asked for protection, wants sessions. A
/// server without a key, or with strangers beside it, gives them little unless told (ADR-0024).
/// errors: Errc::parameters_refused where names and sizes would be in the clear and nobody said that they may; Errc::bad_argument
[[nodiscard]] Status settle_protection(GridftpOptions& options, bool has_environment_key);

}  // namespace udtcat::tool

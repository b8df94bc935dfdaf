// SPDX-License-Identifier: Apache-2.0
/// The command lines of `udtcat gridftp` and its verbs. No input or output here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <udtcat/result.hpp>

#include "gridftp/client/transfer.hpp"
#include "gridftp/dialogue/url.hpp"
#include "tool/cli/command_line.hpp"
#include "tool/cli/options.hpp"

namespace udtcat::gridftp {

/// The name of a local file that is stdin or stdout.
inline constexpr const char* kStdio = "-";

enum class Verb { get, put, copy };

/// One file of `get` or `put`. "-" is stdin or stdout.
struct GridftpFile {
  FtpUrl remote;
  std::string local;
};

/// The ports and address of this host for data, and whether an idle timeout was given.
struct DataEndpointOptions {
  std::shared_ptr<DataPortRange> ports;  ///< none: the system chooses
  std::optional<Endpoint> address;       ///< as other hosts see this one; none: as the control connection has it
  bool idle_timeout_written = false;
};

struct ClientOptions : tool::Options {
  Verb verb = Verb::get;
  std::vector<GridftpFile> files;   ///< get, put
  FtpUrl from, to;                  ///< copy
  std::optional<DataKind> over;     ///< none: as protection asks for
  bool protection_written = false;  ///< a key or a level was asked for
  bool recursive = false;           ///< get, put: `files` is one, a directory here and there
  bool clear_control = false;       ///< a key, and yet a control connection in the clear
  DataEndpointOptions data_endpoint;
  TransferOptions transfer;
};

/// `arguments` without the program and the words gridftp and the verb.  errors: Errc::bad_argument
[[nodiscard]] Result<ClientOptions> parse_client_options(Verb verb, const tool::Words& arguments);
[[nodiscard]] tool::DeclaredOptions client_options_declared(Verb verb);

enum class ServeAuth { anonymous, key };

struct ServerOptions : tool::Options {
  std::string root;
  bool address_written = false;  ///< behind -l; otherwise clients without a key are served on loopback only
  bool read_only = false;
  bool anonymous_writable = false;       ///< clients without a key may change files
  bool third_party = false;              ///< data may go to other hosts than the client's
  std::optional<ServeAuth> auth;         ///< none: as having a key asks for
  bool protection_written = false;       ///< a key or a level was asked for
  Protection least = Protection::clear;  ///< of the data
  DataEndpointOptions data_endpoint;
  DataOptions data;
};

/// errors: Errc::bad_argument
[[nodiscard]] Result<ServerOptions> parse_server_options(const tool::Words& arguments);
[[nodiscard]] tool::DeclaredOptions server_options_declared();

/// Decides what the data run over, and so whether a key is needed: a user with a key (tool::KeyCandidates), or who
/// asked for protection, gets sessions.
/// errors: Errc::parameters_refused where names and sizes would be in the clear and --clear-control is not given;
/// Errc::bad_argument
[[nodiscard]] Status decide_protection(ClientOptions& options, bool has_key_candidate);
/// A server restricts clients without a key unless options say otherwise (ADR-0024).  errors: Errc::bad_argument
[[nodiscard]] Status decide_protection(ServerOptions& options, bool has_key_candidate);

[[nodiscard]] std::string help_text();
[[nodiscard]] std::string gateway_help_text();

}  // namespace udtcat::gridftp

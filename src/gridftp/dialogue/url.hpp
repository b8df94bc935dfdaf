// SPDX-License-Identifier: Apache-2.0
/// Where a file is: as a user writes it, and as an FTP command names it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <udtcat/endpoint.hpp>
#include <udtcat/result.hpp>

namespace udtcat::gridftp {

inline constexpr std::uint16_t kDefaultPort = 2811;  // spec: IANA: gsiftp, where stock servers wait

/// ftp://[user@]host[:port]/path, or udtcat://.  spec: RFC 3986, RFC 1738 §3.2
struct FtpUrl {
  std::string user = "anonymous";
  HostPort server{.host = {}, .port = kDefaultPort};
  bool sealed = false;  ///< udtcat://: the control connection is a stream of a session, by UDP
  std::string path;     ///< decoded; begins with '/': from the server's root, as globus-url-copy means it

  [[nodiscard]] std::string to_string() const;
};

/// Whether a command can carry it: no line end, zero byte, or 0xFF, which is Telnet's IAC.  spec: RFC 959 §5.3, RFC 854
[[nodiscard]] bool can_be_said(std::string_view word);

/// errors: Errc::bad_argument, naming what is wrong: the scheme, a host that is missing, a path with a line end
[[nodiscard]] Result<FtpUrl> parse_ftp_url(std::string_view text);

/// A path of an FTP command made absolute: without ".", "..", which ends at the root, and doubled slashes. Words only:
/// symbolic links are ServedRoot's affair. "~" alone, or in front, is the root.
/// directory   where the client stands
[[nodiscard]] std::string absolute_path(std::string_view directory, std::string_view path);

}  // namespace udtcat::gridftp

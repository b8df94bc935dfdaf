// SPDX-License-Identifier: Apache-2.0
/// The HTTP proxy that a user has for TCP: by --proxy, or by the environment, as other programs take it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <udtcat/options.hpp>
#include <udtcat/result.hpp>

#include "tool/cli/options.hpp"

namespace udtcat::tool {

/// The variables that count.
struct ProxyEnvironment {
  std::optional<std::string> proxy{};     ///< https_proxy, else HTTPS_PROXY
  std::optional<std::string> no_proxy{};  ///< no_proxy, else NO_PROXY
};
[[nodiscard]] ProxyEnvironment proxy_environment();

/// written   --proxy; "none": none; empty: the environment says, where it is malformed a warning
/// returns   null: none
/// errors    Errc::bad_argument for `written`
[[nodiscard]] Result<std::shared_ptr<const HttpProxy>> choose_proxy(const std::string& written,
                                                                    const ProxyEnvironment& environment);

/// Whether that host need not be found by this end, since a proxy finds it.
[[nodiscard]] bool is_found_by_proxy(const Options& options, const std::string& host);

/// `command_line` without the user and the password of a proxy.
[[nodiscard]] std::string without_password(std::string command_line, const std::string& proxy);

}  // namespace udtcat::tool

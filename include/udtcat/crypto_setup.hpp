// SPDX-License-Identifier: Apache-2.0
/// The configuration of the cryptography library, for programs.
#pragma once

namespace udtcat {

/// OpenSSL's configuration (OPENSSL_CONF, openssl.cnf) is not read in this process: it may take away algorithms that
/// the protocol needs. For programs; libraries leave the choice to their users.
/// Call first thing in main; of no effect once OpenSSL was used.
void ignore_crypto_configuration();

}  // namespace udtcat

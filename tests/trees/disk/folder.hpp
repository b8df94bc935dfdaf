// SPDX-License-Identifier: Apache-2.0
/// A test's own directory, and bytes, under the names that trees' tests use.
#pragma once

#include "files/folder.hpp"

namespace udtcat::trees {

using files::Bytes;
using files::bytes_of;
using files::Folder;
using files::random_bytes;
using files::run_ready;
using files::run_until;

}  // namespace udtcat::trees

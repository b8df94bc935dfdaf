// SPDX-License-Identifier: Apache-2.0
/// The names of files that have not come whole: of trees and of GridFTP.
#pragma once

namespace udtcat::files {

/// A directory of parts, here or with more behind it.
inline constexpr const char* kPartsName = ".udtcat-parts";  // spec: docs/spec/trees.md §3
// FILE.part and its journal FILE.part.have, or FILE.part~2 and FILE.part~2.have.
inline constexpr const char* kPartialSuffix = ".part";  // custom
inline constexpr const char* kJournalSuffix = ".have";  // custom

}  // namespace udtcat::files

// SPDX-License-Identifier: Apache-2.0
/// The JSON that the program under test prints is kept in a file of the build; `json.schema` holds all of it against
/// docs/spec/udtcat.schema.json.
#pragma once

#include <string_view>

namespace udtcat::test {

/// Appends those lines of `text` that are a JSON object, or an element of an array of them.
/// text   that the program under test has printed
/// Threads: any, and any process.
void keep_printed_json(std::string_view text);

}  // namespace udtcat::test

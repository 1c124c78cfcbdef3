// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "tests/format/temporary_folder.hpp"

namespace sextant::test {

/// Writes the images, displacement fields and tables that the initial inputs name, into the folder
/// of the JSON file.
void write_files_named_in_json(const TemporaryFolder& folder);

/// Reads a file with every reader of a kind of JSON file ("manifest", "plan", "machine", "trace",
/// "transforms", "cases", "results"), and uses what was read as the commands do. Errors in the file
/// are ignored: only exceptions that are not a sextant::Error propagate.
void read_json_of(std::string_view kind, const std::string& path);

} // namespace sextant::test

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

// The files of an earlier run of `sextant register` in the same output folder.
namespace sextant::command {

/// Returns the paths of the result files of an earlier run: those listed in its transforms.json;
/// for a file of an earlier version, which lists none, the usual names. A file is not among them if
/// it was changed after the run (images, tables) or is not of `register` (pages and JSON files).
/// Empty if the folder has no transforms.json of a run.
///
/// Call this before the new run writes its own transforms.json.
std::vector<std::string> results_of_earlier_run(const std::string& folder);

/// Removes files of an earlier run that are not among the files of this run. Files that cannot be
/// removed are left.
void remove_stale(const std::vector<std::string>& earlier, const std::vector<std::string>& written);

/// Returns the names of those files that are in the folder itself, relative to it.
std::vector<std::string> names_in(const std::string& folder, const std::vector<std::string>& files);

} // namespace sextant::command

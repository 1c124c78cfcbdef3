// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

// The files of an earlier run of `sextant register` in the same output folder.
namespace sextant::command {

/// Returns the paths of the result files of an earlier run: those listed in its transforms.json, or
/// the default names if the file was written by an earlier version without such a list. Omits
/// images and tables that were modified after the run, and pages and JSON files that were not
/// written by `register`. Empty if the folder has no transforms.json of a run.
///
/// Call this before the new run writes its own transforms.json.
std::vector<std::string> results_of_earlier_run(const std::string& folder);

/// Removes files of an earlier run that this run did not write. Files that cannot be removed are
/// left.
void remove_stale(const std::vector<std::string>& earlier, const std::vector<std::string>& written);

/// Returns the names of the files that are directly in the folder, relative to the folder.
std::vector<std::string> names_in(const std::string& folder, const std::vector<std::string>& files);

} // namespace sextant::command

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/command/options.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

// Registration of several series in one call of `sextant register`.
namespace sextant::command {

/// Returns the name of the folder of each series: its file name without the extension, and its
/// dataset if any. For a pattern, it is the part before the first wildcard or, if that is empty,
/// the name of the folder that contains its files. Equal names are prefixed with the folder's name.
/// Throws    InvalidTask if names are still equal.
std::vector<std::string> folders_of_series(std::span<const std::string> series);

/// A series of a call.
struct SeriesTask {
    std::string series, output, page; ///< its name, and where results and page go; "": no page
    /// Returns everything that the results depend on. May throw.
    std::function<std::string()> identity;
    /// Registers the series and returns its results as JSON, on rank 0. Collective; throws
    /// AgreedFailure. `label` precedes notes and progress lines.
    std::function<std::string(const Communicator& ranks, const std::string& label,
                              bool shows_progress)>
        run;
};

/// Registers series. If there are at least as many series as ranks, each rank registers whole
/// series by itself: rank r registers series r, r + ranks and so on. Otherwise all ranks
/// register each series together, one after another. If a series fails, the others continue. The
/// outcome of each is stored in its folder until the end, so that the same call continues after an
/// interruption; `restart` registers all again. Rank 0 writes the reports: a line per series, a
/// page with a table and links to the pages of the series, and one JSON object (docs/json.md).
///
/// Output    true, on every rank, if all series were registered.
/// Requires  the folder `output`, in which the folders of the series are.
/// Collective.
bool register_all(const Communicator& ranks, std::span<const SeriesTask> tasks, bool restart,
                  const Reports& reports, const std::string& output);

} // namespace sextant::command

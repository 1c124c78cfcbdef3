// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/detector_files.hpp"
#include "sextant/command/options.hpp"
#include "sextant/core/record.hpp"
#include "sextant/registration/series_registration.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sextant::command {

/// Options for following a series that is still being recorded.
struct FollowChoice {
    bool follow = false;
    std::optional<double> idle; ///< seconds without a new frame after which the series ends
    std::string spool;          ///< file for the frames of a stream; "": next to the output
    std::string serve;          ///< address of the page, "127.0.0.1:8080"; "": none
};
/// Declares `--follow`, `--idle`, `--spool`, `--serve`.
Record record_of(FollowChoice& choice);

/// A series to follow, and how it will be registered.
struct FollowedSeries {
    SourceChoice source;
    FollowChoice choice;
    RegistrationOptions registration;
    DetectorFiles detector;
    std::string output; ///< an existing folder when `check` has returned
    std::string format; ///< extension of images
};

/// Takes the frames of a series as they are written, and keeps a provisional average
/// (`live-average`), motions (`live-motions.csv`) and a page (`live.html`) up to date in the output
/// folder, until the series ends. These files are those of live_files(). On request, serves a page
/// with the average and the motions. Links between frames remain in the folder, for the run that
/// follows.
///
/// Input     `check` is called when the first frame is there, with the name by which the series can
///           be registered: it checks the outputs.
/// Output    that name: the series itself, or the spool of a stream.
/// Throws    InvalidFile, naming the file, if the series cannot be followed; InvalidTask.
std::string follow(const FollowedSeries& series,
                   const std::function<void(const std::string& name)>& check);

/// The provisional files in the output folder, to be removed when the results are there.
std::vector<std::string> live_files(const std::string& output, const std::string& format);

} // namespace sextant::command

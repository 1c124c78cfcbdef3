// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/command/pages/trace_clocks.hpp"
#include "sextant/command/register/frame_evidence.hpp"
#include "sextant/command/series/aligned_stack.hpp"
#include "sextant/command/series/transforms.hpp"
#include "sextant/registration/series_registration.hpp"
#include "sextant/registration/transform/streaks.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant::command {

/// A thumbnail of a recorded frame.
struct FrameThumbnail {
    std::int64_t frame = 0;
    std::vector<std::byte> png; ///< empty if the frame cannot be read
};

/// The displacement field of a frame.
struct FrameField {
    std::int64_t frame = 0;
    double sigma = 0; ///< RMS standard deviation at known nodes, pixels
    registration::DisplacementField field;
};

/// Parameters and results of a run of `sextant register`.
struct RegisterSummary {
    SeriesTransforms transforms;
    std::string output, transport;
    int ranks = 1, team = 1;   ///< number of ranks, and of threads per rank
    RegistrationResult result; ///< without its frames, which are in `transforms`
    std::vector<std::string> files, warnings;
    std::optional<GatheredWork> work; ///< set only for a report page
    AlignedStack aligned;
    bool corrected = false;                 ///< true if the user named images of the detector
    FrameEvidence evidence;                 ///< about frames that resemble no other
    registration::Streaks streaks;          ///< of the average, compared with the median
    std::string movie;                      ///< the animation of aligned frames (APNG), for a page
    std::int64_t per_picture = 1;           ///< number of frames per picture of the animation
    std::optional<FrameField> worst_field;  ///< the field with the largest deviation
    std::vector<FrameThumbnail> thumbnails; ///< thumbnails of flagged or omitted frames, for a page
};

/// Returns the median NCC of the frames that are not left out.
double median_ncc(const std::vector<FrameRegistration>& frames);

/// The maximum number of frames with a thumbnail on a page.
inline constexpr std::size_t most_thumbnails = 12;

/// Returns the frames that are left out, then frames with flags, those with the most flags first.
/// At most `most_thumbnails` frames, in order of their numbers.
std::vector<std::int64_t> frames_to_picture(const SeriesTransforms& transforms);

/// Reads frames of a series and reduces each to at most 96 pixels per side, with its own grey
/// scale. Frames that cannot be read have no thumbnail.
std::vector<FrameThumbnail> thumbnails_of(FrameSource& series,
                                          std::span<const std::int64_t> frames);

/// Returns the image relative to which the motions of the last stage are stated: "frame 3", or "the
/// average of stage 1".
std::string frame_of_reference(const SeriesTransforms& transforms);

/// Returns warnings about frames that are left out: at most five of a kind, and the number of
/// others. Reasons that differ only in numbers are of the same kind.
std::vector<std::string> warnings_of_frames(const SeriesTransforms& transforms);

/// Returns a line that states the resolution of the average; "" if it was not determined.
std::string resolution_text(const RegisterSummary& summary);
/// States the part of frames that was compared; "" if it is all of them.
std::string matched_text(const RegisterSummary& summary);
/// States the displacement of odd rows that was removed; "" if none was.
std::string bidirectional_text(const RegistrationResult& result);
/// States the displacements of single rows that were removed; "" if none were.
std::string rows_text(const RegistrationResult& result);
/// Returns a line that states the static pattern; "" if there is none.
std::string static_text(const RegisterSummary& summary);
/// Returns suggestions if too few frames could be registered. The first one is about the
/// most probable reason.
std::vector<std::string> advice_on_failure(const RegisterSummary& summary);
/// Returns suggestions for the problems of the result. The first one concerns the most frames.
std::vector<std::string> advice_of(const RegisterSummary& summary);

/// Returns a summary for the terminal. Its last lines state which frames were used and, for the
/// most frequent problem, what to try.
std::string to_text(const RegisterSummary& summary);
/// Returns one JSON object; docs/json.md describes its fields.
std::string to_json(const RegisterSummary& summary);
/// Returns a self-contained HTML page. Requires `summary.work` and the mean of the recorded frames.
std::string to_page(const RegisterSummary& summary);
/// Returns a self-contained HTML page for a series that could not be registered: its frames, the
/// reasons, and what to try.
std::string to_failure_page(const RegisterSummary& summary);

} // namespace sextant::command

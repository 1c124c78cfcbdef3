// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/core/record.hpp"
#include "sextant/registration/series_registration.hpp"

#include <span>
#include <string>
#include <vector>

namespace sextant::command {

/// Files that describe the detector with which a series was recorded, and the pixels to compare.
/// Each may be empty.
struct DetectorFiles {
    std::string dark, gain; ///< images, in any format that open_frames() reads
    /// Defective pixels: an image in which they are not 0, or a list with the extension .txt or
    /// .csv and one "x,y" per line.
    std::string defects;
    std::int64_t gain_degrees = 0; ///< clockwise rotation of the gain image
    registration::Mirror gain_mirror = registration::Mirror::none; ///< applied after the rotation
    /// The pixels to compare: an image in which they are not 0, or polygons with the extension
    /// .json or .geojson (registration::read_polygons()).
    std::string mask;
};

Record record_of(DetectorFiles& files);
Effects effects_of(const DetectorFiles& files);

/// Returns the files to read; see files_of_series().
std::vector<std::string> paths_of(const DetectorFiles& files, std::span<const std::string> outputs);

/// Opens the files.
/// Input     the files, and the shape of the frames.
/// Output    functions that open the images; a list of defective pixels is read immediately.
/// Throws    InvalidFile, naming the line, if a list of pixels cannot be read or a pixel is outside
///           the frames.
registration::DetectorImages images_of(const DetectorFiles& files, ImageShape shape);

/// Opens the mask. Throws InvalidFile if polygons cannot be read.
registration::MatchedRegion region_of(const std::string& mask);

/// Returns a sentence about the samples that were ignored: "ignored: 5 defective pixels of the
/// detector, and 14 outliers in 3 frames"; "" if there are none.
std::string describe_ignored(const RegistrationResult& result);

} // namespace sextant::command

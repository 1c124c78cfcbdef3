// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/command/pages/volume_slices.hpp"
#include "sextant/filter/filtering.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sextant::command {

/// Returns the text of a kernel: "gaussian", "p3pc", "gaussian, truncated at 4 sigmas".
std::string text_of(const kernel::GaussianKernel& kernel);
/// Returns the text of filters: "smooth at sigma 2, then x, y at sigma 1". The text includes the
/// kernel if it is not the default.
std::string text_of(const distributed::Filters& filters);

/// Slices of a volume and of its derivatives, for a page.
struct FilteredSlices {
    explicit FilteredSlices(const SliceGrid& slices) : grid(slices) {}

    SliceGrid grid;
    std::optional<VolumeSlices<float>> volume = {};
    std::vector<VolumeSlices<float>> derivatives = {};
    Seconds reading = 0; ///< time to read the slices of the volume
};

/// The result of `sextant filter`, on rank 0.
struct FilterSummary {
    std::string image, output;
    std::vector<std::string> outputs; ///< the files written: one, or one per derivative of a volume
    distributed::Filters filters;     ///< with all scales in pixels
    std::vector<std::string> derivatives; ///< as requested: scales after @ are in `unit`
    std::string sigma, unit;              ///< as given by the user; "" for pixels
    FrameHeader header;                   ///< header of the image or volume
    std::string transport;
    int ranks = 1;   ///< number of available ranks; the plan may use fewer
    int threads = 1; ///< of each rank
    FilterResult result;
    std::vector<std::byte> picture;       ///< first derivative of an image, if a page shows it
    std::optional<FilteredSlices> slices; ///< slices of a volume, if a page shows them
    std::vector<std::string> warnings;
};

std::string to_text(const FilterSummary& summary);
/// Returns one JSON object; docs/json.md describes its fields.
std::string to_json(const FilterSummary& summary);
/// Returns a self-contained HTML page: the first result, or slices of all results of a volume; the
/// plan and the reason for it, the tiles, the predicted time of each grid.
std::string to_page(const FilterSummary& summary);

} // namespace sextant::command

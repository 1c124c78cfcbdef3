// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/effects.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/units.hpp"
#include "sextant/filter/filter_plan.hpp"
#include "sextant/filter/window_filter.hpp"
#include "sextant/planner/planner.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant {

/// The text of a scale: "2" or, if the scale differs between axes, "4,2" (y,x of an image) or
/// "4,2,2" (z,y,x).
std::string text_of(const kernel::Scales& scales);
/// Converts a scale to and from this text, which ends with the unit, if any: "2µm". The field must
/// have a range, for scales without a unit. If `unit` is null, no unit is accepted.
Codec codec_of(kernel::Scales& scales, std::string* unit = nullptr);

/// A feature that is computed first, as the input of later filters.
struct EarlierFilter {
    std::string feature;
    /// Scale along x, in the unit of FilterOptions::sigma. The scales along y and z are
    /// proportional to it.
    double sigma = 1;
};

/// Options for filtering an image or a volume. They must be the same on every rank, except `plan`.
struct FilterOptions {
    /// Scale, 0.5 to 1000 pixels; may differ between axes. Along axes without a derivative, 0 is
    /// allowed too, except with the kernel p3pc.
    kernel::Scales sigma = 1;
    /// The unit of all scales and of derivatives, such as "µm"; if empty, pixels.
    std::string unit = {};
    /// The size of a pixel in `unit`; required if `unit` is set.
    std::optional<kernel::Scales> pixel = {};
    /// The features to compute, each once: "x", "yy", "xxy", "smooth", "gradient-magnitude" ...
    /// (kernel::find_feature).
    std::vector<std::string> derivatives = {"x", "y", "xx", "xy", "yy"};
    kernel::GaussianKernel::Weights kernel = kernel::GaussianKernel::Weights::gaussian;
    /// if set, Gaussians are truncated at this many sigmas, as in SciPy
    std::optional<double> truncate = {};
    /// Filters to apply first, each to the result of the previous one.
    std::vector<EarlierFilter> before = {};
    kernel::Border border = kernel::Border::replicate; ///< rule for samples outside the image
    double border_value = 0; ///< value outside the image, with Border::constant
    /// Memory for the image and all planes, of all ranks together. A larger image is filtered in
    /// windows of rows.
    Bytes memory = Bytes{64} << 20;
    std::optional<Tiles> grid =
        {}; ///< one tile per rank; if not set, the fastest grid by prediction
    /// "read": each rank reads its own tile. "scatter", "broadcast" or the name of a collective:
    /// rank 0 reads the image and distributes it. "any": the fastest of these by prediction.
    std::string distribute = "any";
    /// Memory sharing between processes of a node: "on", "off", or "auto" (on if predicted to be
    /// faster).
    std::string shared_memory = "auto";
    std::string machine = {}; ///< profile for predictions; if empty, that of rank 0's machine
    planner::Probing probing = planner::Probing::kept; ///< see CompositeOptions::probing
    int threads = 1; ///< of each rank, which share its part of the image
    /// Rank 0's plan, for example from an earlier result or a file (read_filter_plan). If set,
    /// `grid`, `distribute` and `memory` have no effect.
    std::optional<distributed::FilterPlan> plan = {};
};
Record record_of(FilterOptions& options); ///< for all options except `pixel`, `threads` and `plan`
Effects effects_of(const FilterOptions& options);

/// Returns the filters that the options name, with scales in pixels. Throws InvalidTask, naming the
/// option.
distributed::Filters filters_of(const FilterOptions& options,
                                kernel::Dimensions dimensions = kernel::Dimensions::two);

} // namespace sextant

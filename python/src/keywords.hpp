// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/record.hpp"
#include "sextant/distributed/filtering.hpp"
#include "sextant/label/label.hpp"
#include "sextant/label/stitching.hpp"
#include "sextant/label/tiled_labelling.hpp"

#include <string>

namespace sextant::python {

// The options of functions that accept images and volumes.

/// The options of `label`.
struct LabelKeywords {
    std::string neighbours; ///< "": the default of the image or volume
    LabelOptions image;     ///< also of volumes: by_value, measure and memory
    VolumeLabelOptions volume;

    /// The options of an image or a volume. Throws InvalidTask, naming the option, if an option
    /// that is not for it differs from its default.
    LabelOptions of_image() const;
    VolumeLabelOptions of_volume() const;
};
Record record_of(LabelKeywords& keywords);

/// The options of a filter; the sigma of a volume may be a list of three numbers.
Record filter_record(FilterOptions& options);

/// The options of `measure`: those of volumes.
struct MeasureKeywords {
    VolumeLabelOptions volume;
};
Record record_of(MeasureKeywords& keywords);

} // namespace sextant::python

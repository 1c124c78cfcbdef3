// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/record.hpp"
#include "sextant/filter/filtering.hpp"
#include "sextant/label/label.hpp"
#include "sextant/label/stitching.hpp"

#include <string>

namespace sextant::python {

// The options of functions that accept images and volumes.

/// The options of `label`.
struct LabelKeywords : LabelOptions {};
Record record_of(LabelKeywords& keywords);

/// The options of a filter; the sigma of a volume may be a list of three numbers.
Record filter_record(FilterOptions& options);

/// The options of `measure`.
struct MeasureKeywords {
    LabelOptions options;
};
Record record_of(MeasureKeywords& keywords);

} // namespace sextant::python

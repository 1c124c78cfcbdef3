// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/row_source.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/distributed/tiled_image.hpp"
#include "sextant/label/label.hpp"

// Components of an image in tiles, one per rank, which are merged by a pattern
// (contour/merging.hpp).
namespace sextant::label {

/// Labels an image of a file, of which each rank reads its tile, and passes the labels to the sink
/// on rank 0.
///
/// Throws    on every rank AgreedFailure, also if the memory cannot hold the image, if the number
/// of
///           tiles is not that of ranks, or if there are 2³¹ components or more.
/// Collective.
/// Cost      label_components(); on rank 0 also a gathered image of labels.
LabelResult label_in_tiles(const Communicator& communicator, const LabelOptions& options,
                           const RunControl& control, RowSource& source, LabelSink& sink);

/// Labels an image in tiles on this communicator; `memory` and `grid` have no effect.
LabelResult label_tiles(const Communicator& communicator, const LabelOptions& options,
                        const RunControl& control, const distributed::Image& image);

} // namespace sextant::label

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

/// An image that exceeds the memory is processed in strips of rows, each in tiles over all ranks,
/// and components are joined at the seams (kernel/label/strip_seams.hpp). Components are complete
/// only after the last strip, so strips are then read and labelled twice.
///
/// Throws    on every rank AgreedFailure, also if the number of tiles is not that of ranks, or if
///           there are 2³¹ components or more.
/// Collective.
/// Cost      label_components() for each strip; while streaming, memory on rank 0 for a row and 4
///           bytes per component of each strip (76 bytes with `measure`).
LabelResult label_in_tiles(const Communicator& communicator, const LabelOptions& options,
                           const RunControl& control, RowSource& image, LabelSink& sink);

/// Labels an image in tiles on this communicator; `memory` and `grid` have no effect.
LabelResult label_tiles(const Communicator& communicator, const LabelOptions& options,
                        const RunControl& control, const distributed::Image& image);

} // namespace sextant::label

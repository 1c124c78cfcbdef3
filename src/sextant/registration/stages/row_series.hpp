// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/registration/pair/row_fit.hpp"
#include "sextant/registration/stages/refinement.hpp"

#include <cstdint>
#include <span>

namespace sextant::registration {

/// The registered frames of all ranks, with their rows, and the number of columns at the left edge
/// that the flyback disturbs (row_fit.hpp).
struct RegisteredRows {
    Registered frames;
    std::int64_t flyback = 0;
};

/// Registers the rows of scanned frames (row_fit.hpp), starting at the frames' rigid motions. Each
/// frame is compared with the average of the others, whose rows are displaced by the result of the
/// pass before; the prior of the displacements is estimated from up to 64 frames after each pass.
///
/// Displacements that all frames have in common at a row of the specimen cannot be told from the
/// specimen. They are 0 on average over the frames, and fast changes of them from row to row are
/// removed by the template's filter.
///
/// Columns that the flyback disturbs become gaps from the second pass on.
///
/// Input     rigid motions of all registered frames, at least three, and this rank's frames.
/// Output    FrameRegistration::rows and row_fit are set; `result` has the rigid part of the
///           motion, with its uncertainty, NCC and misfit.
/// Throws    InvalidTask for less than three frames.
/// Cost      four averages of all frames, and five comparisons of each frame with a template.
/// Memory
///           per rank: 12 bytes per row of every frame, and twelve frames.
/// Collective.
/// Deterministic  The bits do not depend on ranks or threads.
RegisteredRows register_by_rows(const SeriesContext& context, const Registered& registered,
                                std::span<FrameRegistration> own, bool rotates);

} // namespace sextant::registration

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/filtering/filter_task.hpp"
#include "sextant/halo/stencil.hpp"
#include "sextant/schedule/prove.hpp"

#include <vector>

namespace sextant::filtering {

/// Rows of an image that go through filters, one after another, each on what the one before made:
/// all but the last make one plane.
///
/// A filter's grid is of the rows that it makes, at hand are those that the one before made. Where
/// these are as many, as for a whole image, and in the same tiles, these stay where they are, and
/// the filter exchanges their borders; otherwise rows are dealt out anew, with the pixels around
/// the new tiles.
struct WindowTask {
    std::vector<halo::Stencil> filters; ///< what they do with borders and planes follows from here
    bool collect = true;                ///< planes of the last at rank 0; otherwise tiles stay
};

/// One rank's program, and which of its buffers a caller binds; −1 where this rank has none.
struct WindowProgram {
    Program program;
    int image = -1; ///< where nothing is distributed, the tile with pixels around it, of which only
                    ///< what no other rank has; otherwise at rank 0 all that is at hand
    int planes = -1; ///< what is made: the window's planes at rank 0, or this rank's tiles of them
};

/// The tiles, distributed; then filters with their exchanges of borders, kernel k for filter k;
/// then the planes of the last, collected. One schedule, in which whatever can overlaps.
///
/// A `way` without a distribution: every rank has its part of the image from the start. Without a
/// gather: planes go straight to rank 0, each when it is made. A broadcast brings pixels around
/// tiles too.
///
/// Requires  filters on the tiles of the way; rows and columns that follow from each other; one
///           plane but for the last; a scatter or broadcast to distribute, a gather to collect, or
///           none (InvalidTask).
/// Cost      beside image and planes: an image at rank 0 and tiles where something distributes or
///           is a filter's that is not the last.
WindowProgram window_program(const WindowTask& task, const Way& way, int rank);

/// The same as a schedule, for models, pictures and proofs.
Schedule window_schedule(const WindowTask& task, const Way& way);

/// From an image whose pixel i is element i of operand 0: filter f makes pixel i of operand f + 1
/// from exactly the pixels of operand f that its margin reaches, the last as many operands as it
/// has planes. A broadcast cannot be proved: it brings what is never used.
Claim claim(const WindowTask& task, const Way& way);

} // namespace sextant::filtering

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/filtering/filter_configuration.hpp"
#include "sextant/halo/stencil.hpp"
#include "sextant/schedule/prove.hpp"

#include <vector>

namespace sextant::filtering {

/// Rows of an image, or planes of a volume, that pass through filters one after another. All
/// filters except the last compute one plane (for a volume: one volume).
///
/// A filter's grid describes the rows that the filter computes; its input is the rows that the
/// previous filter computed. If both have the same rows and tiles, as for a whole image, the tiles
/// stay in place and the filter exchanges their borders; otherwise the rows are redistributed,
/// together with the pixels around the new tiles. Windows of a volume consist of whole planes.
struct WindowTask {
    std::vector<halo::Stencil> filters; ///< `kernel`, `exchanges` and `collects` are ignored
    bool collect =
        true; ///< rank 0 gets the planes of the last filter; otherwise ranks keep their tiles
};

/// One rank's program, and the indices of the buffers that a caller binds; −1 if this rank has no
/// such buffer.
struct WindowProgram {
    Program program;
    /// On rank 0, all input rows. Without a distribution, each rank's tile with its margin, of
    /// which the caller fills only pixels that no other rank has.
    int image = -1;
    int planes = -1; ///< results: the window's planes on rank 0, or this rank's tiles of them
};

/// Distributes the tiles, runs the filters with their border exchanges (kernel k for filter k), and
/// collects the planes of the last filter. All parts form a single schedule, in which they may
/// overlap.
///
/// Without a distribution in `configuration`, every rank has its part of the image from the start.
/// Without a gather, planes are sent directly to rank 0 as soon as they are computed. A broadcast
/// includes the pixels around tiles.
///
/// Requires  filters on the tiles of the configuration; matching rows and columns; one plane for
///           each filter but the last; a scatter or broadcast to distribute, a gather to collect,
///           or none; whole planes of a volume (InvalidTask).
/// Cost      besides image and planes: an image on rank 0, and tiles for the distribution and for
///           each filter but the last. Boxes of a volume that are not whole planes are packed on
///           rank 0 before a scatter and after a gather.
WindowProgram window_program(const WindowTask& task, const Configuration& configuration, int rank);

/// Returns the programs of all ranks as a schedule, for models, drawings and proofs.
Schedule window_schedule(const WindowTask& task, const Configuration& configuration);

/// The claim to prove, for an image whose pixel i is element i of operand 0: filter f computes
/// pixel i of operand f + 1 from exactly the pixels of operand f within the filter's margin; the
/// last filter computes one operand per plane. A broadcast cannot be proved, because some of the
/// broadcast data is never used.
Claim claim(const WindowTask& task, const Configuration& configuration);

} // namespace sextant::filtering

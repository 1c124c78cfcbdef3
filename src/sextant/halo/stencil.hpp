// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/halo/exchange.hpp"
#include "sextant/schedule/prove.hpp"

#include <span>

namespace sextant::halo {

/// A kernel that computes `planes` images from one. Each result pixel depends on the pixels within
/// the grid's margin around it.
struct Stencil {
    Grid grid;
    int planes = 1;
    Bytes sample = 0;      ///< bytes per sample of the image; 0 for the size used in the planes
    bool overlaps = true;  ///< compute the inner part of the tile during the exchange
    bool collects = false; ///< rank 0 gets all planes, the other ranks none
    int kernel = 0;        ///< index into the run's kernels
    bool exchanges = true; ///< if false, the margins are defined from the start
};

/// The buffers of a stencil's program.
inline constexpr int image_buffer = 0, planes_buffer = 1;

/// A stencil applied to a tiled image: a halo exchange, and the kernel, applied to the whole tile
/// or to up to five parts of it (seven in a volume). If planes are collected, each rank sends its
/// tile of each plane as soon as it is computed.
///
/// If the image is a volume, each "plane" is a volume of results.
///
/// Input     image_buffer: the tile with margins towards neighbours (clipped_tile), row by row;
///           only the pixels selected by is_given must be defined.
/// Output    planes_buffer: the tile of each plane, one after another, row by row; on rank 0 the
///           whole planes if they are collected. A compute step reads the pixels that a part of the
///           tile depends on, and writes that part of each plane, one plane after another. Each of
///           these parts has one region in an image, and the regions of rows_in() in a volume.
///           part_read and part_made return the parts.
/// Cost      the messages of the halo exchange, and one per collected plane.
Program stencil(const Stencil& stencil, int rank);

/// True if a rank must have this pixel of its tile or margin when the program starts.
bool is_given(const Stencil& stencil, int rank, Elements x, Elements y, Elements z = 0);

/// The part of each plane that a rank holds at the end.
Tile kept_tile(const Stencil& stencil, int rank);

/// part_made: the part of the image that a compute step of this rank computes, derived from the
/// regions `made` that the step writes. part_read: the pixels that the step reads, which are the
/// part and its margin, clipped to the available image.
Tile part_made(const Stencil& stencil, int rank, std::span<const Region> made);
Tile part_read(const Stencil& stencil, const Tile& made);

/// The claim for a stencil applied to the available image, whose pixel i is element i of the
/// operand. Pixel i of plane k is element i of operand `operand` + k + 1, and must be computed from
/// exactly the pixels within the margin.
Claim claim(const Stencil& stencil, int operand = 0);

} // namespace sextant::halo

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/halo/exchange.hpp"
#include "sextant/schedule/prove.hpp"

namespace sextant::halo {

/// A kernel that makes `planes` images of one, a pixel from the pixels around it, as far as the
/// grid's margin reaches.
struct Stencil {
    Grid grid;
    int planes = 1;
    Bytes sample = 0; ///< bytes of a sample of the image; 0: as many as those of the planes have
    bool overlaps = true;  ///< what needs no other tile's pixels is computed while these travel
    bool collects = false; ///< rank 0 ends up with all of the planes, the others with nothing
    int kernel = 0;        ///< its number among the run's
    bool exchanges = true; ///< otherwise the pixels around tiles are there from the start
};

/// The buffers of its program.
inline constexpr int image_buffer = 0, planes_buffer = 1;

/// A stencil applied to an image in tiles: halo exchange, and the kernel on the tile, in one piece
/// or in up to five. Where planes are collected, each rank sends its own when they are made.
///
/// Input     image_buffer: the tile with margins towards neighbours (clipped_tile), row by row, of
///           which only what no other rank has is defined (is_given).
/// Output    planes_buffer: the tile of each plane, one after another, row by row; at rank 0 the
///           planes whole, where they are collected. A compute step reads one region, the pixels
///           that a part of the tile is made from, and makes a region in each plane, the part:
///           part_made and part_read say which these are.
/// Cost      messages as exchange, and to collect one for each plane.
Program stencil(const Stencil& stencil, int rank);

/// Whether a rank must have a pixel, of its tile or beside it, before it begins.
bool is_given(const Stencil& stencil, int rank, Elements x, Elements y);

/// What a rank's planes are of.
Tile kept_tile(const Stencil& stencil, int rank);

/// The part of the image that a compute step of this rank makes, and what it reads for it: as much
/// more on every side as the margin, of what is at hand.
Tile part_made(const Stencil& stencil, int rank, const Region& first_made);
Tile part_read(const Stencil& stencil, const Tile& made);

/// From an image, all of it that is at hand, whose pixel i is element i of the operand: pixel i of
/// plane k becomes element i of the (k + 1)th operand after it, and is made from exactly the pixels
/// that the margin reaches.
Claim claim(const Stencil& stencil, int operand = 0);

} // namespace sextant::halo

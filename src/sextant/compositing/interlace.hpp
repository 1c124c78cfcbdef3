// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/composite_task.hpp"
#include "sextant/schedule/program.hpp"

#include <vector>

namespace sextant::compositing {

/// The interlaced order of an image's pixels. Blocks of pixels are distributed round-robin over
/// groups (decks), one per position; the order lists one deck after another. A contiguous piece in
/// this order is spread over the whole image, so all pieces have about the same number of active
/// pixels.
///
/// A piece that is 1/n of the image is one strided region if it begins and ends at boundaries of
/// blocks and decks; otherwise it is a few regions.
class Interleaving {
  public:
    /// `block`: pixels per block; the last block may be shorter.
    Interleaving(Elements pixels, Elements block, int decks);

    /// The index in the image of pixel `position` of the interlaced order.
    Elements pixel(Elements position) const;
    /// Appends the regions of pixels [first, first + count) of the interlaced order, in that order,
    /// in a buffer that holds the image from `offset` on.
    void append(std::vector<Region>& regions, int buffer, Elements offset, Elements first,
                Elements count) const;

  private:
    Elements begin_of(Elements deck) const;
    Elements deck_of(Elements position) const;

    Elements pixels_, block_, decks_;
    Elements blocks_; ///< the number of full blocks
};

/// True if the tuning requests interlacing and interlacing has an effect.
bool is_interlaced(const Task& task, const Tuning& tuning);

/// The interlaced order requested by the tuning of a task.
Interleaving interlacing_of(const Task& task, const Tuning& tuning);

/// Translates a program for images in interlaced order to one for images in their natural order.
/// The new program accesses the pixels of partial images and of the composited image in place,
/// without copies that reorder them. Scratch stays in interlaced order.
///
/// Input     a program of this task; at least 2 positions.
/// Output    a program whose result at the root is the composited image in natural order, and
///           elsewhere the rank's piece in interlaced order.
/// Cost      a fold or copy on an image becomes one fold or copy for each region that its pixels
///           are cut into.
/// Source    the interlacing of IceT: Moreland, Kendall, Peterka, Huang 2011,
///           doi:10.1145/2063384.2063417
Program interlaced(const Program& program, const Task& task, const Interleaving& interlacing);

} // namespace sextant::compositing

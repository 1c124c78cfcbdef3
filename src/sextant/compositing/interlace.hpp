// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/composite_task.hpp"
#include "sextant/schedule/program.hpp"

#include <vector>

namespace sextant::compositing {

/// The pixels of a picture in another order: blocks of it are dealt in turn to as many decks as
/// there are positions, and the decks lie one after another. So whatever is one piece in that order
/// is spread over the whole picture, and holds about as much of what was drawn as any other.
///
/// A piece of an n-th of the picture is one strided region where blocks and decks come out even,
/// and a few otherwise.
class Dealing {
  public:
    /// Blocks of so many pixels, the last of what is left.
    Dealing(Elements pixels, Elements block, int decks);

    /// Where a pixel of the dealt order lies in the picture.
    Elements pixel(Elements dealt) const;
    /// Appends where pixels [first, first + count) of the dealt order lie, in that order: in a
    /// buffer that holds the picture from `offset` on.
    void append(std::vector<Region>& regions, int buffer, Elements offset, Elements first,
                Elements count) const;

  private:
    Elements begin_of(Elements deck) const;
    Elements deck_of(Elements dealt) const;

    Elements pixels_, block_, decks_;
    Elements blocks_; ///< whole ones
};

/// Whether a tuning asks for it, and it changes something.
bool is_interlaced(const Task& task, const Tuning& tuning);

/// By the tuning of a task.
Dealing dealing_of(const Task& task, const Tuning& tuning);

/// A program for the pictures in dealt order as one for pictures as they lie: what it reads of
/// images and writes of a collected picture are the pixels where they are, so that nothing is
/// copied to be dealt. Its scratch stays in dealt order.
///
/// Input     a program of this task; positions() of 2 or more.
/// Output    one whose result is the picture as it lies at the root, and elsewhere the rank's piece
///           of the dealt order.
/// Cost      a fold or copy of an image or picture becomes one for each region it is cut into.
/// Source    the interlacing of IceT: Moreland, Kendall, Peterka, Huang 2011,
///           doi:10.1145/2063384.2063417
Program interlaced(const Program& program, const Task& task, const Dealing& dealing);

} // namespace sextant::compositing

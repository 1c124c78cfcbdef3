// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/label/labels.hpp"
#include "sextant/kernel/label/row_bits.hpp"

#include <bit>
#include <cstdint>

// Along the runs of a row that lies in bits (row_bits.hpp).
namespace sextant::kernel {

/// Moves all bits to the next place, word by word.
class Shift {
  public:
    std::uint64_t operator()(std::uint64_t word) {
        const std::uint64_t shifted = word << 1 | carry_;
        carry_ = word >> 63;
        return shifted;
    }

  private:
    std::uint64_t carry_ = 0;
};

/// Calls `body` with the place of each bit.
template <class Body>
void each_bit(std::uint64_t bits, Body&& body) {
    for (; bits != 0; bits &= bits - 1)
        body(std::countr_zero(bits));
}

/// Calls `body` with the first pixel of each run of a row, the one behind its last, and its label.
template <class Body>
void each_run(const LabelledRuns& runs, Elements width, Body&& body) {
    Elements begin = -1;
    const Label* label = runs.labels;
    Shift shift;
    const auto end_at = [&](Elements x) {
        if (begin >= 0)
            body(begin, x, *label++);
        begin = -1;
    };
    for (Elements word = 0; word < words_for(width); ++word) {
        const std::uint64_t ends = shift(runs.inside[word]) & ~runs.inside[word];
        each_bit(runs.starts[word] | ends, [&](int bit) {
            end_at(64 * word + bit);
            if (runs.starts[word] >> bit & 1)
                begin = 64 * word + bit;
        });
    }
    end_at(width);
}

} // namespace sextant::kernel

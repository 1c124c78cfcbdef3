// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/operator.hpp"
#include "sextant/kernel/fold/wide.hpp"

#include <algorithm>

// What the folds of all operators are made of: a readable one, pixel by pixel, and one in vectors
// that gives the same bits for as many pixels as fill whole vectors.
namespace sextant::kernel {

using Sources = std::span<const std::byte* const>;

/// What code compiled for one kind of processor is given: plain data, nothing inline that the
/// linker could then take for all.
struct Operands {
    const std::byte* const* sources;
    std::size_t count; ///< at least two
    std::byte* to;
    bool stream; ///< write past the caches: `to` is aligned to `stream_alignment` at `first`
};

/// Folds pixels from `first` on while whole vectors fit before `last`; returns where it stopped.
using FoldVectors = Elements (*)(const Operands& operands, Elements first, Elements last);

inline constexpr Bytes stream_alignment = 64;

/// Whether so many bytes, read and written, find no place in the largest cache: what is written is
/// gone from it before it is used.
bool exceeds_caches(Bytes touched);

/// From which element on a result is to be written past the caches, which saves reading what it
/// replaces: the first one aligned for it. `elements` where the result, `of` elements in all, stays
/// in a cache until it is used, is already there as a source, or is not aligned to its elements.
Elements streaming_from(Sources sources, const std::byte* to, Elements elements, Elements of,
                        Bytes size);

/// The readable fold, of the elements [first, last): the meaning of an operator's `fold`.
template <class Pixel, class Combine>
void fold_plainly(Sources sources, std::byte* to, Elements first, Elements last, Combine combine) {
    const auto operand = [&](std::size_t k, Elements i) {
        return Wide<Pixel>::widen(reinterpret_cast<const Pixel*>(sources[k])[i]);
    };
    for (Elements i = first; i < last; ++i) {
        auto sum = operand(0, i);
        for (std::size_t k = 1; k < sources.size(); ++k)
            sum = combine(sum, operand(k, i));
        reinterpret_cast<Pixel*>(to)[i] = Wide<Pixel>::narrow(sum);
    }
}

/// Operator::fold: in vectors, and plainly before and behind them.
template <class Pixel, class Combine>
void fold(Sources sources, std::byte* to, Elements elements, Elements of, FoldVectors vectors,
          Combine combine) {
    if (sources.size() == 1) {
        if (sources[0] != to)
            std::copy_n(sources[0], elements * static_cast<Bytes>(sizeof(Pixel)), to);
        return;
    }
    const Elements aligned = streaming_from(sources, to, elements, of, sizeof(Pixel));
    const bool stream = aligned < elements;
    const Elements first = stream ? aligned : 0;
    fold_plainly<Pixel>(sources, to, 0, first, combine);
    const Elements done = vectors({sources.data(), sources.size(), to, stream}, first, elements);
    fold_plainly<Pixel>(sources, to, done, elements, combine);
}

/// Operator::fold and Operator::fill_identity, for a row.
template <class Pixel, class Combine>
auto folding(FoldVectors vectors, Combine combine) {
    return [=](Sources sources, std::byte* to, Elements elements, Elements of) {
        fold<Pixel>(sources, to, elements, of, vectors, combine);
    };
}
template <class Pixel>
auto filling(const Pixel& nothing) {
    return [=](std::byte* to, Elements elements) {
        std::fill_n(reinterpret_cast<Pixel*>(to), elements, nothing);
    };
}

} // namespace sextant::kernel

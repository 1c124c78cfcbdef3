// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/row_ring.hpp"

#include "sextant/kernel/filter/weighted_lines.hpp"

namespace sextant::kernel {

namespace {

/// A line of the cache beyond a multiple of its lines, so that rows do not compete for the places
/// that addresses with the same last bits have in it.
Elements stride_of(Elements width) {
    constexpr Elements cache_line = 64 / sizeof(float);
    return (width + line_unit - 1) / line_unit * line_unit + cache_line;
}

} // namespace

RowRing::RowRing(int reach, Elements width)
    : reach_(reach), memory_(count() * stride_of(width) * static_cast<Bytes>(sizeof(float))) {
    auto* const first = reinterpret_cast<float*>(memory_.data());
    for (int copy = 0; copy < 2; ++copy) {
        for (Elements row = 0; row < count(); ++row)
            rows_.push_back(first + row * stride_of(width));
    }
}

} // namespace sextant::kernel

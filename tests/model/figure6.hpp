// SPDX-License-Identifier: BSD-3-Clause
// The estimators of Figure 6 of the P-3PC paper, in closed form: oracles for what is predicted by
// playing schedules.
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/machine/interpolate.hpp"

#include <algorithm>
#include <bit>

#include "tests/model/machines.hpp"

namespace sextant::test {

/// T_path,layout(n) on DAS, in milliseconds, n in 4-byte values: of P-3PC, or of LogGP*.
class DasCosts {
  public:
    explicit DasCosts(bool loggp_star = false) : loggp_star_(loggp_star) {}

    double operator()(machine::Path path, machine::Layout layout, Elements n) const {
        if (!loggp_star_)
            return measured(path, layout, n);
        const double full = measured(machine::Path::full, machine::Layout::cc, n);
        if (path == machine::Path::full)
            return full;
        return measured(machine::Path::send, machine::Layout::cc, 0) + full -
               measured(machine::Path::full, machine::Layout::cc, 0);
    }

  private:
    double measured(machine::Path path, machine::Layout layout, Elements n) const {
        const auto strategy = layout == machine::Layout::cc ? machine::Strategy::contiguous
                                                            : machine::Strategy::datatype;
        const auto* curve = machine::find(das_.links.at(0), path, layout, strategy);
        return machine::at_size(curve->points, 4 * n).median * 1e3;
    }

    machine::Profile das_ = shipped_machine("das");
    bool loggp_star_;
};

inline const machine::Layout cc = machine::Layout::cc;

/// One-level flat tree: `side` and `strided` are send and nc of a scatter, receive and cn of a
/// gather.
inline double flat_tree(const DasCosts& T, const Grid& grid, machine::Path side,
                        machine::Layout strided) {
    const auto M = grid.columns == 1 ? cc : strided;
    const Elements m = grid.width * grid.height / grid.ranks();
    const int P = grid.ranks();
    return std::max((P - 1) * T(side, M, m),
                    (P - 2) * T(side, M, m) + T(machine::Path::full, M, m));
}

/// Spanning binomial tree, with messages of W H / 2^i elements: the print says 2 i, which would
/// send more than the image.
inline double binomial_tree(const DasCosts& T, const Grid& grid, machine::Path side,
                            machine::Layout strided) {
    const int logP = std::countr_zero(static_cast<unsigned>(grid.ranks()));
    const int logX = std::countr_zero(static_cast<unsigned>(grid.columns));
    double one_side = 0, full = 0;
    for (int i = 1; i <= logP; ++i) {
        const auto M = i <= logP - logX ? cc : strided;
        const Elements n = (grid.width * grid.height) >> i;
        one_side += T(side, M, n);
        full += T(machine::Path::full, M, n);
    }
    return std::max(one_side, full);
}

/// The border exchange as Figure 6 prints it, no term dropped.
inline double border_published(const DasCosts& T, const Grid& grid, Elements bw) {
    const Elements w = grid.width / grid.columns, h = grid.height / grid.rows;
    return 2 * T(machine::Path::full, machine::Layout::nn, bw * h) +
           2 * T(machine::Path::full, cc, (w + 2 * bw) * bw);
}

/// The same without the terms of neighbours that do not exist, nor the corners at X = 1: what is
/// executed.
inline double border_mended(const DasCosts& T, const Grid& grid, Elements bw) {
    const Elements w = grid.width / grid.columns, h = grid.height / grid.rows;
    double sum = 0;
    if (grid.columns > 1)
        sum += 2 * T(machine::Path::full, machine::Layout::nn, bw * h);
    if (grid.rows > 1)
        sum += 2 * T(machine::Path::full, cc, (w + (grid.columns > 1 ? 2 * bw : 0)) * bw);
    return sum;
}

/// The process grids of 16 ranks on a 512 × 512 image, columns × rows.
inline const Grid das_grids[] = {
    {512, 512, 1, 16}, {512, 512, 2, 8}, {512, 512, 4, 4}, {512, 512, 8, 2}, {512, 512, 16, 1}};

} // namespace sextant::test

// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/reproduce/p3pc_formulas.hpp"

#include "sextant/machine/interpolate.hpp"
#include "sextant/reproduce/runs.hpp"

#include <algorithm>
#include <bit>

namespace sextant::reproduce {

using machine::Layout;
using machine::Path;

DasCosts::DasCosts(bool loggp_star) : das_(machine_of_paper("das")), loggp_star_(loggp_star) {}

double DasCosts::operator()(Path path, Layout layout, Elements n) const {
    if (!loggp_star_)
        return measured(path, layout, n);
    const double full = measured(Path::full, Layout::cc, n);
    if (path == Path::full)
        return full;
    return measured(Path::send, Layout::cc, 0) + full - measured(Path::full, Layout::cc, 0);
}

double DasCosts::measured(Path path, Layout layout, Elements n) const {
    const auto strategy =
        layout == Layout::cc ? machine::Strategy::contiguous : machine::Strategy::datatype;
    const auto* curve = machine::find(das_.links.at(0), path, layout, strategy);
    return machine::at_size(curve->points, 4 * n).median * 1e3;
}

double flat_tree(const DasCosts& T, const Grid& grid, Path side, Layout strided) {
    const auto M = grid.columns == 1 ? Layout::cc : strided;
    const Elements m = grid.width * grid.height / grid.ranks();
    const int P = grid.ranks();
    return std::max((P - 1) * T(side, M, m), (P - 2) * T(side, M, m) + T(Path::full, M, m));
}

double binomial_tree(const DasCosts& T, const Grid& grid, Path side, Layout strided) {
    const int logP = std::countr_zero(static_cast<unsigned>(grid.ranks()));
    const int logX = std::countr_zero(static_cast<unsigned>(grid.columns));
    double one_side = 0, full = 0;
    for (int i = 1; i <= logP; ++i) {
        const auto M = i <= logP - logX ? Layout::cc : strided;
        const Elements n = (grid.width * grid.height) >> i;
        one_side += T(side, M, n);
        full += T(Path::full, M, n);
    }
    return std::max(one_side, full);
}

double border_published(const DasCosts& T, const Grid& grid, Elements bw) {
    const Elements w = grid.width / grid.columns, h = grid.height / grid.rows;
    return 2 * T(Path::full, Layout::nn, bw * h) + 2 * T(Path::full, Layout::cc, (w + 2 * bw) * bw);
}

double border_mended(const DasCosts& T, const Grid& grid, Elements bw) {
    const Elements w = grid.width / grid.columns, h = grid.height / grid.rows;
    double sum = 0;
    if (grid.columns > 1)
        sum += 2 * T(Path::full, Layout::nn, bw * h);
    if (grid.rows > 1)
        sum += 2 * T(Path::full, Layout::cc, (w + (grid.columns > 1 ? 2 * bw : 0)) * bw);
    return sum;
}

} // namespace sextant::reproduce

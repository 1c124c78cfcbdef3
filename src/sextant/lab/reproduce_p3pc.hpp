// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/machine/profile.hpp"

namespace sextant::lab {

/// T_path,layout(n): the time of a message of n 4-byte values on DAS, in milliseconds, by P-3PC
/// with the values of the paper's Table 1, or by LogGP*, with which the paper compares P-3PC.
class DasCosts {
  public:
    explicit DasCosts(bool loggp_star = false);

    double operator()(machine::Path path, machine::Layout layout, Elements n) const;

  private:
    double measured(machine::Path path, machine::Layout layout, Elements n) const;

    machine::Profile das_;
    bool loggp_star_;
};

// The estimators of Figure 6 of Seinstra and Koelma, IEEE TPDS 13(7), 2002, in closed form.

/// One-level flat tree. For a scatter, pass `side` = send and `strided` = nc; for a gather, receive
/// and cn.
double flat_tree(const DasCosts& T, const Grid& grid, machine::Path side, machine::Layout strided);

/// Spanning binomial tree with messages of W H / 2^i elements. The paper prints W H / (2 i), which
/// would send more than the image.
double binomial_tree(const DasCosts& T, const Grid& grid, machine::Path side,
                     machine::Layout strided);

/// The border exchange as printed, with all terms, for borders `bw` pixels wide.
double border_published(const DasCosts& T, const Grid& grid, Elements bw);

/// The border exchange as executed: without the terms of neighbours that do not exist, and without
/// the corners if the grid has one column.
double border_mended(const DasCosts& T, const Grid& grid, Elements bw);

/// The process grids of 16 ranks on a 512 x 512 image: width, height, columns, rows.
inline constexpr Grid das_grids[] = {
    {512, 512, 1, 16}, {512, 512, 2, 8}, {512, 512, 4, 4}, {512, 512, 8, 2}, {512, 512, 16, 1}};

} // namespace sextant::lab

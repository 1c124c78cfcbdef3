// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/machine/profile.hpp"

#include <string_view>
#include <vector>

#include "papers/experiments.hpp"

namespace sextant::papers {

/// T_path,layout(n): the time in milliseconds of a message of n 4-byte values on DAS. It is
/// computed by P-3PC with the values of the paper's Table 1, or by LogGP*, the model that the paper
/// compares with P-3PC.
class DasCosts {
  public:
    explicit DasCosts(bool loggp_star = false);
    /// Uses the machine of another profile.
    explicit DasCosts(machine::Profile machine, bool loggp_star = false)
        : machine_(std::move(machine)), loggp_star_(loggp_star) {}

    double operator()(machine::Path path, machine::Layout layout, Elements n) const;

  private:
    double measured(machine::Path path, machine::Layout layout, Elements n) const;

    machine::Profile machine_;
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

/// The border exchange as printed, with all terms. Borders are `bw` pixels wide.
double border_published(const DasCosts& T, const Grid& grid, Elements bw);

/// The border exchange as executed: without the terms for neighbours that do not exist, and without
/// the corners if the grid has one column.
double border_mended(const DasCosts& T, const Grid& grid, Elements bw);

/// The process grids of 16 ranks on a 512 x 512 image: width, height, columns, rows.
inline constexpr Grid das_grids[] = {
    {512, 512, 1, 16}, {512, 512, 2, 8}, {512, 512, 4, 4}, {512, 512, 8, 2}, {512, 512, 16, 1}};

/// A timed operation of the paper: a scatter or gather along a tree, or an exchange of borders.
struct DasOperation {
    std::string_view name;
    std::string_view collective; ///< empty for the border exchange
    machine::Path side = machine::Path::full;
    double sigma = 0; ///< sigma of the border exchange

    bool is(std::string_view part) const { return name.find(part) != name.npos; }
    /// The width of the exchanged borders: the reach of the kernel of second derivatives.
    Elements margin() const;
};

/// The timed operations: flat and binomial scatters and gathers, and exchanges at sigma 1, 3 and 5.
std::span<const DasOperation> das_operations();

/// Returns the programs of the operation.
Schedule schedule_of(const DasOperation& what, const Grid& grid);
/// The exchange of borders of `margin` pixels.
Schedule exchange_schedule(const Grid& grid, Elements margin);

/// The time in milliseconds that a model predicts for a schedule of 4-byte values.
double replayed(const char* model, const Schedule& schedule, const machine::Profile& machine);

/// Estimates for sizes that the user gives. The heading is an Experiment without a function.
struct DasEstimates {
    Experiment heading;
    Result result;
};

/// Predicts all operations on one image and all grids of a number of ranks, for DAS. The paper's
/// values are those of Figure 6; nullopt where the figure's binomial tree does not apply.
///
/// Throws    InvalidTask if a grid has more columns or rows than the image has pixels.
DasEstimates estimate_operations(Elements width, Elements height, int ranks);

/// Predicts messages of these numbers of values in all layouts, for DAS. Non-contiguous messages
/// have 100 blocks.
DasEstimates estimate_messages(std::span<const std::int64_t> values);

} // namespace sextant::papers

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/simulate/simulation.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::reproduce {

/// One case: what the paper printed, if it did, and what comes out here, by column.
struct Row {
    std::string label;
    std::optional<double> theirs;
    std::vector<double> ours;
};

/// Something the paper says, and whether it comes out so.
struct Claim {
    std::string text;
    bool holds = false;
    std::string found;
};

/// What became of a table or figure.
struct Result {
    std::string unit;
    std::vector<std::string> columns; ///< of `Row::ours`; the last one is judged
    std::vector<Row> rows;
    std::vector<Claim> claims;
};

/// How much of an experiment: what takes seconds, or all of it.
enum class Extent { quick, whole };

/// One table or figure of a paper: one function in the paper's file, and one row of its list.
struct Experiment {
    std::string_view paper; ///< as a user names it: "shift-based"
    std::string_view item;  ///< "Figure 8"
    std::string_view title;
    std::string_view setting; ///< what was assumed, and what was fitted
    std::string_view reasons; ///< why ours differs, where it does
    Result (*run)(Extent extent);
    bool needs_simgrid = false; ///< for a platform in its words
};

/// Every experiment, by paper.
std::vector<Experiment> catalogue();

/// Ours by the column that is judged, over theirs. Empty where the paper has no number.
std::optional<double> ratio(const Row& row);

/// "agrees" up to a factor of 1.25 either way, else "differs"; "" where the paper has no number.
std::string_view verdict(const Row& row);

/// Cavin and Demengeon, EGPGV 2012.
std::span<const Experiment> shift_based_paper();
/// Its theory, Figures 2 and 3, and the bandwidths beside its frame rates.
std::span<const Experiment> shift_based_bandwidths();
/// Peterka, Goodell, Ross, Shen, Thakur, SC 2009, doi:10.1145/1654059.1654064
std::span<const Experiment> radix_k_paper();
/// What it leaves for later: images of which only a part is active.
std::span<const Experiment> radix_k_sparse();
/// Hambrusch and Khokhar, JPDC 32, 1996, doi:10.1006/jpdc.1996.0010
std::span<const Experiment> c3_paper();
/// What its figures charge, and what its choices cost on the machine that its authors measured.
std::span<const Experiment> c3_charges();
/// Its section 5, on contour ranking.
std::span<const Experiment> c3_contours();
/// Seinstra and Koelma, IEEE TPDS 13(7), 2002
std::span<const Experiment> p3pc_paper();
/// What it measured, measured on the machine at hand.
std::span<const Experiment> p3pc_here();
/// The prefix circuits that a scan-based registration of series builds on, each by its author.
std::span<const Experiment> scan_papers();
/// Copik, Parallel Prefix Algorithms for the Registration of Arbitrarily Long Electron Micrograph
/// Series, RWTH Aachen: a master's thesis, whose figures are described more than printed.
std::span<const Experiment> registration_papers();
/// Copik, Grosser, Hoefler, Bientinesi, Berkels, IEEE TPDS 33(3), 2022, arXiv:2010.12478
std::span<const Experiment> work_stealing_paper();

/// A table of numbers that a paper prints: a heading and rows, in a CSV file of data/papers.
class Table {
  public:
    /// Throws InvalidTask where there is no such table, InvalidFile where a row has not as many
    /// cells as the heading.
    explicit Table(const std::string& name);

    const std::vector<std::string>& columns() const { return cells_.front(); }
    std::size_t rows() const { return cells_.size() - 1; }
    const std::string& text(std::size_t row, std::string_view column) const;
    /// Empty where the paper leaves the cell empty. Throws InvalidFile for what is no number.
    std::optional<double> number(std::size_t row, std::string_view column) const;
    /// The row whose first cell this is. Throws InvalidFile.
    std::size_t row_of(std::string_view first) const;

  private:
    std::string path_;
    std::vector<std::vector<std::string>> cells_; ///< the heading first
};

inline constexpr Elements mega = 1024 * 1024;

/// A machine that is shipped, how its hosts are ordered, and what blending costs if not what the
/// platform says.
struct Setting {
    std::string platform;
    std::string order = {};
    std::optional<double> blend_rate = {};    ///< pixels a second
    std::vector<double> active_by_round = {}; ///< of sparse images, see simulate::Question
    bool timeline = false;
};

/// Seconds to blend an image of so many pixels of 16 bytes on each rank, by an algorithm in its
/// usual tuning, or with radices. Operands are combined as they come.
Seconds composite(const std::string& algorithm, int ranks, Elements pixels, const Setting& setting,
                  const std::vector<int>& radices = {});

/// Seconds for a schedule of elements of so many bytes: by our own clock on platforms in our words,
/// by SimGrid on its own.
simulate::Simulation run(const Schedule& schedule, Bytes element_size, const Setting& setting);

/// The profile of a machine that a paper measured, which is shipped.
machine::Profile machine_of_paper(const std::string& name);

/// All ranks' programs of a compositing algorithm.
Schedule compositing_schedule(const std::string& algorithm, int ranks, Elements pixels,
                              const std::vector<int>& radices = {});

} // namespace sextant::reproduce

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

namespace sextant::lab {

/// One case: the paper's number, if printed, and ours, by column.
struct Row {
    std::string label;
    std::optional<double> theirs;
    std::vector<double> ours;
};

/// A statement of the paper, and whether our results support it.
struct Claim {
    std::string text;
    bool holds = false;
    std::string found;
};

/// The reproduction of a table or figure.
struct Result {
    std::string unit;
    std::vector<std::string> columns; ///< of `Row::ours`; the last one is compared
    std::vector<Row> rows;
    std::vector<Claim> claims;
};

/// The extent of an experiment: a part that takes seconds, or all of it.
enum class Extent { quick, whole };

/// One table or figure of a paper: a function in the paper's file, and a row of its list.
struct Experiment {
    std::string_view paper; ///< the name in the command line: "shift-based"
    std::string_view item;  ///< "Figure 8"
    std::string_view title;
    std::string_view setting; ///< assumptions and fitted values
    std::string_view reasons; ///< why ours differs, if it does
    Result (*run)(Extent extent);
    bool needs_simgrid = false; ///< for a platform in SimGrid's format
};

/// Every experiment, by paper.
std::vector<Experiment> all_experiments();

/// Ours (the compared column) over theirs. Empty if the paper has no number.
std::optional<double> ratio(const Row& row);

/// "agrees" within a factor of 1.25, else "differs"; "" if the paper has no number.
std::string_view verdict(const Row& row);

/// Cavin and Demengeon, EGPGV 2012.
std::span<const Experiment> shift_based_paper();
/// Its theory, Figures 2 and 3, and the bandwidths besides its frame rates.
std::span<const Experiment> shift_based_bandwidths();
/// Peterka, Goodell, Ross, Shen, Thakur, SC 2009, doi:10.1145/1654059.1654064
std::span<const Experiment> radix_k_paper();
/// Future work of that paper: images with few active pixels.
std::span<const Experiment> radix_k_sparse();
/// Hambrusch and Khokhar, JPDC 32, 1996, doi:10.1006/jpdc.1996.0010
std::span<const Experiment> c3_paper();
/// The charges in its figures, and the cost of its choices on the machine of its authors.
std::span<const Experiment> c3_charges();
/// Its section 5, on contour ranking.
std::span<const Experiment> c3_contours();
/// Seinstra and Koelma, IEEE TPDS 13(7), 2002
std::span<const Experiment> p3pc_paper();
/// Its measurements, repeated on this machine.
std::span<const Experiment> p3pc_here();
/// The prefix circuits used by scan-based registration of series, with their authors.
std::span<const Experiment> scan_papers();
/// Copik, Parallel Prefix Algorithms for the Registration of Arbitrarily Long Electron Micrograph
/// Series, RWTH Aachen: a master's thesis; most of its figures are described without numbers.
std::span<const Experiment> registration_papers();
/// Copik, Grosser, Hoefler, Bientinesi, Berkels, IEEE TPDS 33(3), 2022, arXiv:2010.12478
std::span<const Experiment> work_stealing_paper();

/// A table of numbers printed by a paper, from a CSV file with a heading in data/papers.
class Table {
  public:
    /// Throws InvalidTask if there is no such table; InvalidFile if a row does not have as many
    /// cells as the heading.
    explicit Table(const std::string& name);

    const std::vector<std::string>& columns() const { return cells_.front(); }
    std::size_t rows() const { return cells_.size() - 1; }
    const std::string& text(std::size_t row, std::string_view column) const;
    /// Empty if the paper's cell is empty. Throws InvalidFile if it is not a number.
    std::optional<double> number(std::size_t row, std::string_view column) const;
    /// The row with this first cell. Throws InvalidFile.
    std::size_t row_of(std::string_view first) const;

  private:
    std::string path_;
    std::vector<std::vector<std::string>> cells_; ///< the heading first
};

inline constexpr Elements mega = 1024 * 1024;

/// A shipped platform, the order of its hosts, and the blending rate if not the platform's.
struct Setting {
    std::string platform;
    std::string order = {};
    std::optional<double> blend_rate = {};    ///< pixels per second
    std::vector<double> active_by_round = {}; ///< for sparse images, see simulate::Question
    bool timeline = false;
};

/// Seconds to composite one image of this many 16-byte pixels per rank, by an algorithm with its
/// default tuning or the given radices. Operands are combined in order of arrival.
Seconds composite(const std::string& algorithm, int ranks, Elements pixels, const Setting& setting,
                  const std::vector<int>& radices = {});

/// Simulates a schedule of elements of this many bytes: with Sextant's simulator on platforms in
/// its format, with SimGrid on platforms in SimGrid's format.
simulate::Simulation run(const Schedule& schedule, Bytes element_size, const Setting& setting);

/// The shipped profile of a machine that a paper measured.
machine::Profile machine_of_paper(const std::string& name);

/// All ranks' programs of a compositing algorithm.
Schedule compositing_schedule(const std::string& algorithm, int ranks, Elements pixels,
                              const std::vector<int>& radices = {});

} // namespace sextant::lab

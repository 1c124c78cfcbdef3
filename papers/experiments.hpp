// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/json.hpp"
#include "sextant/machine/profile.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/simulate/simulation.hpp"

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::papers {

/// The value in a column that a row does not have.
inline constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// The strength of evidence if our number agrees with the paper's.
enum class Basis {
    printed, ///< the paper prints the number or the formula, and our computation does not use it
    fitted,  ///< our computation uses values fitted to numbers of the same measurement
    own,     ///< both are evaluated from the same formulas or tables, so a difference is unlikely
};
std::string_view name(Basis basis);

/// The condition under which two numbers agree.
enum class Match {
    factor,  ///< within a factor of 1.25
    count,   ///< equal, for counts
    at_most, ///< our number is at most the paper's, which is a bound
};

/// One case: the paper's number, if it is printed, and our numbers, one per column.
struct Row {
    std::string label;
    std::optional<double> theirs = {};
    std::vector<double> ours = {};
    bool only_in_json = false; ///< true for details that would make a table too long for a page
    std::optional<Match> match = {}; ///< if it differs from the experiment's match
};

/// A statement of a paper, and the verdict of our results.
struct Claim {
    std::string text;
    bool holds = false;
    std::string found;
    bool can_be_known = true; ///< false if the claim cannot be judged; `found` is the reason
};

/// A claim that cannot be judged.
inline Claim unknown(std::string_view text, std::string_view reason) {
    return {std::string(text), false, std::string(reason), false};
}

/// The reproduction of a table or figure.
struct Result {
    std::string unit;
    /// The names of the columns of `Row::ours`; the last column is compared with the paper.
    std::vector<std::string> columns;
    std::vector<Row> rows = {};
    std::vector<Claim> claims = {};
};

/// The extent of an experiment: some cases, which take seconds, or all. The object records if a
/// quick experiment reads the extent, and thus computes only some of the cases.
class Extent {
  public:
    enum Kind { quick, whole };
    Extent(Kind kind, bool* selects = nullptr) : kind_(kind), selects_(selects) {}
    friend bool operator==(const Extent& extent, Kind kind) {
        if (extent.kind_ == quick && extent.selects_)
            *extent.selects_ = true;
        return extent.kind_ == kind;
    }

  private:
    Kind kind_;
    bool* selects_;
};

/// One table or figure of a paper, and the function that reproduces it.
struct Experiment {
    std::string_view paper; ///< name on the command line, for example "shift-based"
    std::string_view item;  ///< for example "Figure 8"
    std::string_view title;
    std::string_view setting; ///< assumptions and fitted values
    std::string_view
        reasons; ///< reasons for differences between our numbers and the paper's, if any
    Result (*run)(Extent extent);
    Basis basis = Basis::printed;
    Match match = Match::factor;
};

/// Runs an experiment. Claims are judged only if all cases were computed. Rows without a match get
/// the match of the experiment.
Result result_of(const Experiment& experiment, Extent::Kind extent);

/// Every experiment, by paper.
std::vector<Experiment> all_experiments();

/// Our number (the compared column) divided by the paper's. Nullopt if the paper has no number.
std::optional<double> ratio(const Row& row);

/// "agrees" or "differs", according to the row's match or, without one, within a factor; "" if the
/// paper has no number.
std::string_view verdict(const Row& row);

/// Cavin and Demengeon, EGPGV 2012: Table 1.
extern const std::span<const Experiment> shift_based_counts;
/// Figures 2 and 3 of the Shift-Based paper.
extern const std::span<const Experiment> shift_based_theory;
/// Measurements of the Shift-Based paper: Figures 4 to 7 and 9.
extern const std::span<const Experiment> shift_based_cluster;
/// Figure 8 of the Shift-Based paper.
extern const std::span<const Experiment> shift_based_nodes;
/// Statements of the Shift-Based paper on routing.
extern const std::span<const Experiment> shift_based_routing;
/// Peterka, Goodell, Ross, Shen, Thakur, SC 2009, doi:10.1145/1654059.1654064
extern const std::span<const Experiment> radix_k_paper;
/// Figures 4 and 5 of the Radix-k paper: numbers of nodes.
extern const std::span<const Experiment> radix_k_scaling;
/// Figures 6 and 7 of the Radix-k paper: the choice of radices.
extern const std::span<const Experiment> radix_k_vectors;
/// Future work of the Radix-k paper: images with few active pixels.
extern const std::span<const Experiment> radix_k_sparse;
/// Hambrusch and Khokhar, JPDC 32, 1996, doi:10.1006/jpdc.1996.0010
extern const std::span<const Experiment> c3_paper;
/// Figures 1 to 4 of the C³ paper: the parameters of networks, and the charges of messages.
extern const std::span<const Experiment> c3_definitions;
/// The costs printed in the C³ paper's figures, and the regret of its choices on the authors'
/// machine.
extern const std::span<const Experiment> c3_charges;
/// Section 4.2 of the C³ paper, on all-to-one.
extern const std::span<const Experiment> c3_all_to_one;
/// Searches for parameters that explain Figures 8 and 11 of the C³ paper.
extern const std::span<const Experiment> c3_searches;
/// Section 5 of the C³ paper, on contour ranking.
extern const std::span<const Experiment> c3_contours;
/// Seinstra and Koelma, IEEE TPDS 13(7), 2002: costs and sizes of messages.
extern const std::span<const Experiment> p3pc_messages;
/// Estimates of the P-3PC paper: Figures 9 to 11.
extern const std::span<const Experiment> p3pc_paper;
/// The P-3PC paper's measurements, repeated on this machine.
extern const std::span<const Experiment> p3pc_here;
/// The papers on the prefix circuits used by scan-based registration of series.
extern const std::span<const Experiment> scan_papers;
/// Copik, Parallel Prefix Algorithms for the Registration of Arbitrarily Long Electron Micrograph
/// Series, RWTH Aachen: a master's thesis; most of its figures are described without numbers.
extern const std::span<const Experiment> registration_papers;
/// The same thesis: its operator, which is the published registration.
extern const std::span<const Experiment> operator_papers;
/// The same thesis: its equations.
extern const std::span<const Experiment> equation_papers;
/// The same thesis: scans of MPI libraries.
extern const std::span<const Experiment> mpi_scan_papers;
/// Copik, Grosser, Hoefler, Bientinesi, Berkels, IEEE TPDS 33(3), 2022, arXiv:2010.12478
extern const std::span<const Experiment> work_stealing_paper;

/// A table of numbers printed in a paper, read from a CSV file in papers/data; the first line has
/// the column names.
class Table {
  public:
    /// Throws InvalidTask if there is no such table; InvalidFile if a row has more or fewer cells
    /// than the heading.
    explicit Table(const std::string& name);

    const std::vector<std::string>& columns() const { return cells_.front(); }
    std::size_t rows() const { return cells_.size() - 1; }
    const std::string& text(std::size_t row, std::string_view column) const;
    /// Nullopt if the cell is empty. Throws InvalidFile if the cell is not a number.
    std::optional<double> number(std::size_t row, std::string_view column) const;
    /// The index of the row whose first cell is `first`. Throws InvalidFile if there is none.
    std::size_t row_of(std::string_view first) const;

  private:
    std::string path_;
    std::vector<std::vector<std::string>> cells_; ///< the first row is the heading
};

inline constexpr Elements mega = 1024 * 1024;

/// A shipped platform and options for simulating on it.
struct Setting {
    std::string platform;
    std::string order = {}; ///< file with the order of hosts; if empty, the platform's order
    std::optional<double> blend_rate = {}; ///< pixels per second; if not set, the platform's rate
    std::vector<double> active_by_round = {}; ///< fraction of active pixels in each round
    bool timeline = false;
    Association association = Association::by_arrival;
};

/// The simulated time to composite one image of `pixels` 16-byte pixels per rank, by an algorithm
/// with its default tuning or with the given radices.
Seconds composite(const std::string& algorithm, int ranks, Elements pixels, const Setting& setting,
                  const std::vector<int>& radices = {});

/// A platform that is shipped with Sextant.
simulate::Platform shipped_platform(const std::string& name);

/// Simulates a schedule with Sextant's simulator, on the setting's platform or on the given one.
simulate::Simulation run(const Schedule& schedule, Bytes element_size, const Setting& setting);
simulate::Simulation run(const Schedule& schedule, Bytes element_size, const Setting& setting,
                         const simulate::Platform& platform);

/// Conditions of a simulation besides the platform.
struct Conditions {
    std::vector<simulate::OrderedHost> order =
        {}; ///< hosts to fill; if empty, the platform's order
    Association association = Association::by_arrival;
    bool timeline = false;
};

/// Simulates a schedule with Sextant's simulator, on any platform.
simulate::Simulation run_on(const Schedule& schedule, Bytes element_size,
                            const simulate::Platform& platform, const Conditions& conditions = {});

/// The shipped profile of a machine used in a paper.
machine::Profile machine_of_paper(const std::string& name);

/// The programs of all ranks for a compositing algorithm.
Schedule compositing_schedule(const std::string& algorithm, int ranks, Elements pixels,
                              const std::vector<int>& radices = {});

/// A launch of `sextant-lab bench KIND` with the MPI library of this build.
struct LabRun {
    std::string kind;  ///< "scan" or "collective"
    std::string cases; ///< the text of the file of cases
    int processes = 2, rounds = 5;
    std::string variables = {}; ///< environment variables, as "NAME=VALUE NAME=VALUE"
};

/// Returns the results of a launch. Throws Error if this build has no MPI, sextant-lab is not
/// installed, or a launcher started this process.
JsonField timed_by_lab(const LabRun& run);

} // namespace sextant::papers

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/command/merging_report.hpp"
#include "sextant/command/operation.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/core/row_source.hpp"
#include "sextant/distributed/canny.hpp"
#include "sextant/distributed/contour_merging.hpp"
#include "sextant/distributed/merging_plan.hpp"
#include "sextant/distributed/strip_contours.hpp"
#include "sextant/report/outlines_section.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sextant::command {

/// Parameters and results of a run of `sextant contours`.
struct ContoursSummary {
    std::string image, output, transport;
    Grid grid;
    double sigma = 0;                                 ///< 0: the input was a direction map
    std::optional<kernel::EdgeThresholds> thresholds; ///< of the edges
    Elements min_length = 1;
    Elements strips = 1;                           ///< 1: the image fitted in memory
    Elements contours = 0, points = 0, closed = 0; ///< written
    Elements junctions = 0, cut = 0;               ///< of the whole map
    int ranks = 1;
    std::optional<distributed::MergingPlan> plan;       ///< only for a single strip
    std::optional<distributed::MergingPlan> hysteresis; ///< the same for hysteresis
    Seconds read = 0, edges = 0, rank = 0, write = 0;
    GatheredMerging merging;       ///< if a page shows it
    report::OutlinedPicture shown; ///< if a page shows it
    std::vector<std::string> warnings;
};

std::string to_text(const ContoursSummary& summary);
/// One JSON object; docs/json.md describes its fields.
std::string to_json(const ContoursSummary& summary);
/// A self-contained HTML page: the image with its longest contours, the plan and its reason, a
/// timeline of the merging.
std::string to_page(const ContoursSummary& summary);

/// The longest contours, without the image; among equally long ones, those that begin first.
report::OutlinedPicture outlined(LineReader& lines);

/// Parses two numbers "LOW,HIGH" of an option, from 0 to `most`. Throws InvalidTask.
struct LowHigh {
    double low = 0, high = 0;
};
LowHigh low_high(std::string_view option, const std::string& text, double most);

/// One rank's run of `sextant contours`: edges in tiles, or a direction map; heads and ranks; the
/// linear representation, which rank 0 writes. An image that does not fit in memory is processed in
/// strips of rows, each in tiles over all ranks; intermediate planes are stored in files next to
/// the output.
class ContoursRun {
  public:
    ContoursRun(const Values& values, Communicator communicator);

    /// Collective.
    void run();

  private:
    bool tells() const { return communicator_.rank() == 0; }
    void open();
    void find_strips();
    void run_in_memory();
    void run_in_strips();
    distributed::StripTiles strip_tiles() const;
    distributed::BytePlane strip_edges_of(const distributed::StripWork& work);
    distributed::Image read();
    distributed::Image directions_of(const distributed::Image& image);
    kernel::EdgeThresholds thresholds_of(const distributed::Image& image);
    kernel::EdgeThresholds strip_thresholds(const distributed::StripWork& work);
    LinearPart rank_contours(const distributed::Image& directions);
    void count(const kernel::ContourRanking& ranking);
    void write(const LinearPart& part);
    void write(distributed::PointOrder& points);
    /// `lines` returns a new reader, from the first line on, at each call.
    void write(const std::function<std::unique_ptr<LineReader>()>& lines);
    void report();

    const Values& values_;
    const Communicator communicator_;
    Progress progress_;
    std::unique_ptr<RowSource> source_;
    ContoursSummary summary_;
};

} // namespace sextant::command

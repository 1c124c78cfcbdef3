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

/// What a run of `sextant contours` was and how it went.
struct ContoursSummary {
    std::string image, output, transport;
    Grid grid;
    double sigma = 0;                                 ///< 0: the image was a direction map
    std::optional<kernel::EdgeThresholds> thresholds; ///< those of its edges
    Elements min_length = 1;
    Elements strips = 1;                           ///< 1: the image fitted in memory
    Elements contours = 0, points = 0, closed = 0; ///< written
    Elements junctions = 0, cut = 0;               ///< of the whole map
    int ranks = 1;
    std::optional<distributed::MergingPlan> plan; ///< of one strip: several are merged in time
    std::optional<distributed::MergingPlan> hysteresis; ///< the same of its edges
    Seconds read = 0, edges = 0, rank = 0, write = 0;
    GatheredMerging merging;       ///< where a page is to show it
    report::OutlinedPicture shown; ///< likewise
    std::vector<std::string> warnings;
};

std::string to_text(const ContoursSummary& summary);
/// One JSON object; docs/json.md has its fields.
std::string to_json(const ContoursSummary& summary);
/// A self-contained HTML page: the picture with its longest contours, what ran and why, when each
/// rank merged what.
std::string to_page(const ContoursSummary& summary);

/// The longest contours, those that begin first where several are as long; without their image.
report::OutlinedPicture outlined(LineReader& lines);

/// Two numbers "LOW,HIGH" of an option, from 0 to `most`. Throws InvalidTask.
struct LowHigh {
    double low = 0, high = 0;
};
LowHigh low_high(std::string_view option, const std::string& text, double most);

/// One rank's way through `sextant contours`: edges in tiles, or a direction map; heads and ranks;
/// the linear representation; rank 0 writes it. What does not fit in memory goes through in strips
/// of rows, each in tiles over all ranks, and lies in files beside the output in between.
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
    /// Lines that can be read from the start as often as they are asked for.
    void write(const std::function<std::unique_ptr<LineReader>()>& lines);
    void report();

    const Values& values_;
    const Communicator communicator_;
    Progress progress_;
    std::unique_ptr<RowSource> source_;
    ContoursSummary summary_;
};

} // namespace sextant::command

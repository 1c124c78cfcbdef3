// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/node_sharing.hpp"
#include "sextant/command/operation.hpp"
#include "sextant/command/overview.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/core/row_source.hpp"
#include "sextant/core/scratch_file.hpp"
#include "sextant/distributed/filter_plan.hpp"
#include "sextant/distributed/window_filter.hpp"
#include "sextant/planner/planner.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sextant::command {

/// Parameters and results of a filter run.
struct FilterSummary {
    std::string image, output;
    distributed::FilterTask task;
    distributed::FilterPlan plan;
    std::string transport;
    NodeSharingChoice sharing;
    int ranks = 1;             ///< available; the plan may use fewer
    Elements not_a_number = 0; ///< number of NaN samples
    int windows = 0;
    Seconds read = 0, filter = 0, write = 0;
    std::vector<std::byte> picture; ///< the first derivative as a PNG file, if a page shows it
    std::vector<std::string> warnings;
};

std::string to_text(const FilterSummary& summary);
/// One JSON object; docs/json.md describes its fields.
std::string to_json(const FilterSummary& summary);
/// A self-contained HTML page: the first result, the plan and its reason, the tiles, the predicted
/// time of each grid.
std::string to_page(const FilterSummary& summary);

/// One rank's run of `sextant filter`: window after window of rows, each read by all ranks,
/// filtered, collected and written by rank 0. All ranks agree on the result of each phase, so that
/// a failure on any ends all with the same message and leaves no output.
class FilterRun {
  public:
    FilterRun(const Values& values, Communicator communicator);

    /// Collective.
    void run();

  private:
    bool tells() const { return communicator_.rank() == 0; }
    /// The same ranks, with shared memory on nodes if it is used.
    const Communicator& filters_on() const { return shared_ ? *shared_ : communicator_; }
    void open();
    void open_source();
    void create_sink();
    void offer_sharing();
    void plan();
    void plan_on(const Communicator& communicator, const std::vector<int>& nodes);
    void tell_plan();
    distributed::FilterPlan planned(const std::vector<int>& nodes,
                                    const planner::UsualPlanner& usual);
    void warn(const std::vector<std::string>& warnings);
    void go_through();
    void check_source();
    void read_window(distributed::WindowFilter& filter, Elements first, Elements rows);
    void sum_not_a_number();
    void write_window(const distributed::WindowFilter& filter, Elements first);
    void report();

    const Values& values_;
    const Communicator communicator_;
    std::optional<Communicator> shared_; // the same ranks, if their nodes share memory
    Progress progress_;
    std::unique_ptr<RowSource> source_;
    std::unique_ptr<PlaneSink> sink_;
    std::optional<Overview> shown_; // the first derivative
    FilterSummary summary_;
    double offset_ = 0; // of rank 0's image
    bool saves_plan_ = false;
};

} // namespace sextant::command

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

/// What a filter run was and how it went.
struct FilterSummary {
    std::string image, output;
    distributed::FilterTask task;
    distributed::FilterPlan plan;
    std::string transport;
    NodeSharingChoice sharing;
    int ranks = 1;             ///< that there are; the plan may use fewer
    Elements not_a_number = 0; ///< samples of the image
    int windows = 0;
    Seconds read = 0, filter = 0, write = 0;
    std::vector<std::byte> picture; ///< of the first derivative, where a page shows it: a PNG file
    std::vector<std::string> warnings;
};

std::string to_text(const FilterSummary& summary);
/// One JSON object; docs/json.md has its fields.
std::string to_json(const FilterSummary& summary);
/// A self-contained HTML page: the first of the results, what ran and why, the tiles, what each
/// grid was predicted to take.
std::string to_page(const FilterSummary& summary);

/// One rank's way through `sextant filter`: window after window of rows, each read by all ranks,
/// filtered, collected and written by rank 0. Each phase is agreed on, so that a failure anywhere
/// ends all ranks with the same message and leaves nothing.
class FilterRun {
  public:
    FilterRun(const Values& values, Communicator communicator);

    /// Collective.
    void run();

  private:
    bool tells() const { return communicator_.rank() == 0; }
    /// The same ranks, where their nodes may share memory.
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
    std::optional<Communicator> shared_; // the same ranks, where their nodes share memory
    Progress progress_;
    std::unique_ptr<RowSource> source_;
    std::unique_ptr<PlaneSink> sink_;
    std::optional<Overview> shown_; // of the first derivative
    FilterSummary summary_;
    double offset_ = 0; // of rank 0's image
    bool saves_plan_ = false;
};

} // namespace sextant::command

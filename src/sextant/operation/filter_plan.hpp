// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/distributed/window_filter.hpp"
#include "sextant/planner/choose.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::operation {

/// What is filtered, and on how many ranks.
struct FilterTask {
    distributed::Filter filter;
    ImageShape image;
    ElementFormat element = gray_f32;
    int ranks = 1;
};

/// How: the grid of tiles, and how many rows are held at a time.
struct FilterPlan {
    int columns = 1, rows_of_tiles = 1;
    Elements window = 0; ///< rows
    Bytes memory = 0;    ///< of all ranks, for windows and what is made of them
    std::string reason;
    std::string machine, model; ///< that predicted; empty where nothing was
    struct Alternative {
        int columns = 1, rows_of_tiles = 1;
        std::optional<Seconds> seconds; ///< of the image at once, predicted
        std::string remark;
    };
    std::vector<Alternative> alternatives; ///< the fastest first
};

/// What profiles call the kernels of its program.
inline constexpr std::string_view filter_kernels[] = {"gaussian-derivatives"};

/// Every grid of the task's ranks, predicted: exchange, computation and gather on rank 0 as one
/// schedule. Of grids that cannot be told apart, the one with fewer columns, whose tiles are
/// longer in memory.
///
/// Input     the machine, where ranks lie and by which model: `setting`, whose elements are floats.
/// Throws    model::CannotExpress, InvalidTask.
FilterPlan plan_filter(const FilterTask& task, const planner::Setting& setting);

/// Strips of rows: what is done where nothing can be predicted, or one rank filters.
FilterPlan strips_plan(const FilterTask& task, const std::string& reason);

/// By prediction, or strips where the machine's profile has no words for it.
FilterPlan usual_filter_plan(const FilterTask& task, const planner::Setting& setting);

/// Sets the window so that all ranks together hold at most `budget` bytes of the image and of what
/// is made of it, and how much that is.
/// Throws    InvalidTask where a single row takes more.
void set_window(FilterPlan& plan, const FilterTask& task, Bytes budget);

/// As it is saved and read again. Throws InvalidFile, also for a plan of another number of ranks.
std::string to_json(const FilterPlan& plan);
FilterPlan read_filter_plan(const std::string& path, const FilterTask& task);

} // namespace sextant::operation

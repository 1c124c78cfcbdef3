// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/filter/filter_plan.hpp"

#include "sextant/core/error.hpp"
#include "sextant/kernel/filter/filter_bank.hpp"
#include "sextant/operation/machines/file_costs.hpp"
#include "sextant/schedule/loans.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

using collective::Algorithm;
using filtering::Way;

constexpr std::string_view kernel_name = "gaussian-derivatives";

/// What profiles call the kernels of its program.
model::KernelUse use_of(const distributed::Filter& filter) {
    return {kernel_name,
            kernel::FilterBank(filter.sigma, filter.features, filter.border).multiply_adds()};
}

std::vector<model::KernelUse> kernels_of(const FilterTask& task) {
    std::vector<model::KernelUse> kernels;
    for (const distributed::Filter& filter : task.filters)
        kernels.push_back(use_of(filter));
    return kernels;
}

/// The program on so many rows in the middle of the image.
filtering::WindowTask rows_of(const FilterTask& task, const Way& way, Elements rows) {
    return distributed::window_task({task.image, (task.image.height - rows) / 2, rows, way},
                                    task.filters, task.element, true, way.ranks() > 1);
}

/// Whole rows are read: the most by one rank, of so many in the middle of the image.
Bytes most_read(const FilterTask& task, const Way& way, Elements rows) {
    const halo::Grid grid = rows_of(task, way, rows).filters.front().grid;
    const Elements all = grid.above + grid.height + grid.below;
    const Elements own = (grid.height + way.rows - 1) / way.rows + grid.above;
    return (way.distribute ? all : std::min(all, own)) * task.image.width * task.element.size;
}

std::optional<Seconds> reading(const FilterTask& task, const Way& way, Elements rows,
                               const FileCosts& files) {
    return files.reading(most_read(task, way, rows), way.distribute || way.ranks() == 1);
}

/// Rank 0 writes while the others wait; with several windows all planes but the first wait in
/// another file.
std::optional<Seconds> writing(const FilterTask& task, Elements rows, const FileCosts& files) {
    const Bytes plane = task.image.width * task.image.height * gray_f32.size;
    const auto planes = static_cast<Bytes>(task.features().size());
    const Bytes waits = rows < task.image.height ? (planes - 1) * plane : 0;
    const auto writes = files.writing(planes * plane + waits, true);
    const auto reads = files.reading(waits, true);
    return writes && reads ? std::optional(*writes + *reads) : std::nullopt;
}

Candidate candidate_of(const FilterTask& task, const Way& way, Elements rows) {
    const filtering::WindowTask window = rows_of(task, way, rows);
    return {"filter", text_of(way), way.ranks(),
            [=](int rank) { return filtering::window_program(window, way, rank).program; }};
}

/// Of planes that a rank makes in the memory of another, where both share it: so much is never
/// touched.
Bytes made_elsewhere(const Program& program) {
    const Dependences dependences(program);
    const Loans loans(program, dependences);
    Bytes bytes = 0;
    for (std::size_t s = 0; s < program.steps.size(); ++s) {
        const Bytes sent =
            program.steps[s].verb == Verb::send && loans.takes_made(static_cast<int>(s))
                ? program.bytes_of(program.steps[s], gray_f32.size)
                : 0;
        bytes += sent >= least_promised_room ? sent : 0;
    }
    return bytes;
}

/// Of many ranks not every number is looked at: all of them, half, a quarter.
std::vector<int> ranks_of(const FilterTask& task, bool work_is_known) {
    constexpr int few = 8;
    std::vector<int> all;
    for (int ranks = task.ranks; ranks >= 1; ranks = ranks > few ? ranks / 2 : ranks - 1) {
        all.push_back(ranks);
        if (!work_is_known)
            break;
    }
    return all;
}

std::vector<Way> grids_of(const FilterTask& task, bool work_is_known) {
    if (task.columns > 0)
        return {{task.columns, task.rows}};
    std::vector<Way> grids;
    for (const int ranks : ranks_of(task, work_is_known)) {
        for (const Way& grid : filtering::grids_of(ranks))
            grids.push_back(grid);
    }
    return grids;
}

/// Null where each rank reads its own.
std::vector<const Algorithm*> distributions_of(const FilterTask& task) {
    if (task.distribute == "read")
        return {nullptr};
    const bool any = task.distribute == "any";
    std::vector<const Algorithm*> all(any ? 1 : 0);
    for (const Algorithm& row : collective::catalogue()) {
        const bool distributes =
            row.what == Collective::scatter || row.what == Collective::broadcast;
        if (name(row.what) == task.distribute || (any && distributes))
            all.push_back(&row);
    }
    return all.empty() ? std::vector{&collective::find(task.distribute)} : all;
}

/// Null first: planes go straight to rank 0.
std::vector<const Algorithm*> gathers() {
    std::vector<const Algorithm*> all = {nullptr};
    for (const Algorithm& row : collective::catalogue()) {
        if (row.what == Collective::gather)
            all.push_back(&row);
    }
    return all;
}

/// What is not known to be read at some rate is not weighed against messages.
FilterTask weighed_task(FilterTask task, const machine::Profile& machine) {
    if (task.distribute == "any" && !FileCosts(machine).reading(1, true))
        task.distribute = "read";
    return task;
}

std::vector<Way> ways_of(const FilterTask& task, const machine::Profile& machine) {
    std::vector<Way> ways;
    for (const Way& grid : grids_of(task, machine.find_kernel(kernel_name, "f32") != nullptr)) {
        if (grid.ranks() == 1) {
            ways.push_back(grid);
            continue;
        }
        for (const Algorithm* distribute : distributions_of(task)) {
            for (const Algorithm* collect : gathers()) {
                if (task.distribute == "any" && distribute && collect)
                    continue; // each alone is weighed against the usual: together they are many
                ways.push_back({grid.columns, grid.rows, distribute, collect, false});
                if (grid.columns > 1 && !machine.copies.empty())
                    ways.push_back({grid.columns, grid.rows, distribute, collect, true});
            }
        }
    }
    return ways;
}

} // namespace

std::string text_of(const Way& way) {
    if (way.ranks() == 1)
        return "rank 0 alone";
    return fmt::format("{}x{} tiles, {}, {}{}", way.columns, way.rows,
                       way.distribute ? way.distribute->name : "each rank reads its own",
                       way.collect ? way.collect->name : "planes straight to rank 0",
                       way.packs ? ", packed" : "");
}

FilterPlan plan_filter(const FilterTask& asked, const planner::Setting& setting) {
    const FilterTask task = weighed_task(asked, setting.machine);
    const std::vector<Way> ways = ways_of(task, setting.machine);
    const FileCosts files(setting.machine);
    const std::vector<model::KernelUse> kernels = kernels_of(task);
    planner::Setting filters = setting;
    filters.kernels = kernels;
    std::vector<Candidate> candidates;
    for (const Way& way : ways) {
        candidates.push_back(candidate_of(task, way, task.image.height));
        candidates.back().before = reading(task, way, task.image.height, files).value_or(0);
    }
    const planner::Choice choice = planner::choose(candidates, filters);
    FilterPlan plan;
    for (const planner::Weighed& weighed : choice.ranking) {
        plan.alternatives.push_back({ways[weighed.candidate], {}, weighed.remark});
        if (weighed.predicted)
            plan.alternatives.back().seconds = weighed.predicted->seconds;
    }
    plan.way = plan.alternatives.front().way;
    plan.window = task.image.height;
    plan.machine = setting.machine.name;
    plan.model = choice.model;
    plan.reason = choice.reason;
    return plan;
}

FilterPlan strips_plan(const FilterTask& task, const std::string& reason) {
    FilterPlan plan;
    plan.way = task.columns > 0 ? Way{task.columns, task.rows} : Way{1, task.ranks};
    if (task.ranks > 1)
        plan.way.distribute = distributions_of(task).front();
    plan.window = task.image.height;
    plan.reason = reason;
    return plan;
}

FilterPlan usual_filter_plan(const FilterTask& task, const planner::Setting& setting) {
    distributions_of(task); // refuses what is none, also where nothing is distributed
    if (task.ranks == 1)
        return strips_plan(task, "nothing to choose: one rank");
    try {
        return plan_filter(task, setting);
    } catch (const model::CannotExpress& why) {
        return strips_plan(task, fmt::format("rule, not predicted: {}", why.what()));
    }
}

Bytes memory_of(const Way& way, const FilterTask& task, Elements rows) {
    const filtering::WindowTask window = rows_of(task, way, rows);
    Bytes bytes = 0;
    for (int rank = 0; rank < way.ranks(); ++rank) {
        const Program program = filtering::window_program(window, way, rank).program;
        for (int b = 0; b < static_cast<int>(program.buffers.size()); ++b)
            bytes += program.buffers[static_cast<std::size_t>(b)].size *
                     program.element_size(b, gray_f32.size);
        if (task.shares_memory && rank > 0)
            bytes -= made_elsewhere(program);
    }
    return bytes;
}

void set_window(FilterPlan& plan, const FilterTask& task, Bytes budget) {
    const auto memory = [&](Elements rows) { return memory_of(plan.way, task, rows); };
    if (memory(1) > budget)
        throw InvalidTask(fmt::format(
            "one row of {} samples, those around it and {} results take {} bytes on {} ranks, "
            "allowed are {}",
            task.image.width, task.features().size(), memory(1), plan.way.ranks(), budget));
    Elements fits = 1, too_many = task.image.height + 1;
    while (too_many - fits > 1) {
        const Elements rows = fits + (too_many - fits) / 2;
        (memory(rows) <= budget ? fits : too_many) = rows;
    }
    plan.window = fits;
    plan.memory = memory(fits);
}

void predict_windows(FilterPlan& plan, const FilterTask& task, const planner::Setting& setting) {
    if (!setting.machine.find_kernel(kernel_name, "f32"))
        return;
    const std::vector<model::KernelUse> kernels = kernels_of(task);
    planner::Setting filters = setting;
    filters.kernels = kernels;
    const Candidate candidate = candidate_of(task, plan.way, plan.window);
    try {
        const planner::Choice choice = planner::choose({&candidate, 1}, filters);
        if (!choice.chosen().predicted)
            return;
        const model::Prediction& window = *choice.chosen().predicted;
        const double windows =
            static_cast<double>(task.image.height) / static_cast<double>(plan.window);
        const FileCosts files(setting.machine);
        const auto read = reading(task, plan.way, plan.window, files);
        plan.predicted = {window.seconds * windows, window.low * windows, window.high * windows,
                          read ? std::optional(*read * windows) : std::nullopt,
                          writing(task, plan.window, files)};
        plan.machine = setting.machine.name;
        plan.model = choice.model;
    } catch (const model::CannotExpress&) {
        // Then there is no prediction, and the plan says so by having none.
    }
}

} // namespace sextant::operation

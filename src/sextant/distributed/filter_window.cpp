// SPDX-License-Identifier: BSD-3-Clause
// How many rows a filter's plan holds at a time, and what going through all of them takes.
#include "sextant/core/error.hpp"
#include "sextant/distributed/filter_candidate.hpp"
#include "sextant/schedule/loans.hpp"

#include <fmt/format.h>

namespace sextant::distributed {

namespace {

using filtering::Way;

/// Rank 0 writes while the others wait; with several windows all planes but the first wait in
/// another file.
std::optional<Seconds> writing(const FilterTask& task, Elements rows,
                               const machine::FileCosts& files) {
    const Bytes plane = task.image.width * task.image.height * gray_f32.size;
    const auto planes = static_cast<Bytes>(task.features().size());
    const Bytes waits = rows < task.image.height ? (planes - 1) * plane : 0;
    const auto writes = files.writing(planes * plane + waits, true);
    const auto reads = files.reading(waits, true);
    return writes && reads ? std::optional(*writes + *reads) : std::nullopt;
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

} // namespace

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
    if (!setting.machine.find_kernel(filter_kernel, "f32"))
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
        const machine::FileCosts files(setting.machine);
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

} // namespace sextant::distributed

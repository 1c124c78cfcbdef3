// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/filter_candidate.hpp"

#include <algorithm>

namespace sextant::distributed {

namespace {

using filtering::Way;

model::KernelUse use_of(const Filter& filter) {
    return {filter_kernel, bank_of(filter).multiply_adds()};
}

/// Whole rows are read: the most by one rank, of so many in the middle of the image.
Bytes most_read(const FilterTask& task, const Way& way, Elements rows) {
    const halo::Grid grid = rows_of(task, way, rows).filters.front().grid;
    const Elements all = grid.above + grid.height + grid.below;
    const Elements own = (grid.height + way.rows - 1) / way.rows + grid.above;
    return (way.distribute ? all : std::min(all, own)) * task.image.width * task.element.size;
}

} // namespace

std::vector<model::KernelUse> kernels_of(const FilterTask& task) {
    std::vector<model::KernelUse> kernels;
    for (const Filter& filter : task.filters)
        kernels.push_back(use_of(filter));
    return kernels;
}

filtering::WindowTask rows_of(const FilterTask& task, const Way& way, Elements rows) {
    return window_task({task.image, (task.image.height - rows) / 2, rows, way}, task.filters,
                       task.element, true, way.ranks() > 1);
}

Candidate candidate_of(const FilterTask& task, const Way& way, Elements rows) {
    const filtering::WindowTask window = rows_of(task, way, rows);
    return {"filter", text_of(way), way.ranks(),
            [=](int rank) { return filtering::window_program(window, way, rank).program; }};
}

std::optional<Seconds> reading(const FilterTask& task, const Way& way, Elements rows,
                               const machine::FileCosts& files) {
    return files.reading(most_read(task, way, rows), way.distribute || way.ranks() == 1);
}

} // namespace sextant::distributed

// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/filter_prices.hpp"

#include "sextant/filtering/program.hpp"
#include "sextant/halo/redistribution.hpp"
#include "sextant/planner/alone.hpp"
#include "sextant/planner/richest_model.hpp"

#include <algorithm>
#include <limits>

namespace sextant::planner {

namespace {

constexpr Seconds any_price = std::numeric_limits<Seconds>::infinity();

Elements largest_tile(const Grid& grid) {
    Elements most = 0;
    for (int rank = 0; rank < grid.ranks(); ++rank)
        most = std::max(most, tile(grid, rank).elements());
    return most;
}

} // namespace

Seconds GridPrices::exchanges(const filtering::Task& task) const {
    Seconds sum = 0;
    for (const Elements margin : task.margins)
        sum += exchange.at(margin);
    return sum;
}

FilterPrices::FilterPrices(const FilterQuestion& question, const machine::Profile& machine)
    : machine_(machine), question_(question), task_(question.task) {}

Seconds FilterPrices::of(const Schedule& schedule) {
    if (!model_)
        find_model(schedule);
    const model::Prediction prediction = predict(*model_, schedule, first_nodes(schedule.size()));
    remarks_.insert(prediction.remarks.begin(), prediction.remarks.end());
    return prediction.seconds;
}

std::span<const int> FilterPrices::first_nodes(std::size_t ranks) const {
    const std::span<const int> nodes = question_.nodes;
    return nodes.empty() ? nodes : nodes.first(ranks);
}

model::Prediction FilterPrices::predict(const model::Model& model, const Schedule& schedule,
                                        std::span<const int> nodes) const {
    model::Question asked{.schedule = schedule, .machine = machine_};
    asked.element_size = question_.element_size;
    asked.nodes = nodes;
    asked.within_node = question_.within_node;
    return model.predict(asked);
}

void FilterPrices::find_model(const Schedule& schedule) {
    model_ = &richest_model(question_.model, "filters", [&](const model::Model& model) {
        predict(model, schedule, first_nodes(schedule.size()));
    });
}

Seconds FilterPrices::work_on(const filtering::Way& grid) const {
    return question_.work * static_cast<double>(largest_tile(filtering::grid_of(task_, grid)));
}

Seconds FilterPrices::work_alone() const {
    return question_.work * static_cast<double>(task_.width * task_.height);
}

std::vector<const collective::Algorithm*> FilterPrices::rows(Collective what) const {
    const auto& names = question_.collectives;
    std::vector<const collective::Algorithm*> rows;
    for (const collective::Algorithm& row : collective::catalogue()) {
        const bool asked =
            names.empty() || std::find(names.begin(), names.end(), row.name) != names.end();
        if (row.what == what && asked)
            rows.push_back(&row);
    }
    return rows;
}

/// What rank 0 needs even if nobody keeps it waiting.
Seconds FilterPrices::least(const collective::Algorithm& row, const Grid& grid) {
    const Alone alone = planner::alone(row.program(grid, 0), 0);
    std::vector<int> nodes;
    for (const int rank : alone.ranks) {
        if (!question_.nodes.empty())
            nodes.push_back(question_.nodes[static_cast<std::size_t>(rank)]);
    }
    if (!model_)
        find_model(alone.schedule);
    return predict(*model_, alone.schedule, nodes).seconds;
}

Seconds FilterPrices::least(std::initializer_list<Collective> kinds, const Grid& grid) {
    Seconds best = any_price;
    for (const Collective what : kinds) {
        for (const collective::Algorithm* row : rows(what))
            best = std::min(best, least(*row, grid));
    }
    return best;
}

Seconds FilterPrices::least(const filtering::Way& way) {
    const Grid grid = filtering::grid_of(task_, way);
    const Seconds work = work_on(way) * static_cast<double>(task_.margins.size());
    const Seconds given = least({Collective::scatter, Collective::broadcast}, grid);
    return work + given +
           (task_.collect ? task_.outputs * least({Collective::gather}, grid) : Seconds{0});
}

/// Where everyone sends to everyone, the whole goes with the square of the ranks: it is walked only
/// if rank 0 alone does not take what it would be worth.
std::vector<PricedCollective> FilterPrices::price(Collective what, const Grid& grid,
                                                  Seconds worth) {
    std::vector<PricedCollective> priced;
    for (const collective::Algorithm* row : rows(what)) {
        PricedCollective one{row};
        if (worth < any_price)
            one.seconds = least(*row, grid);
        one.at_least = one.seconds > worth;
        if (!one.at_least)
            one.seconds =
                of(make_schedule(grid.ranks(), [&](int rank) { return row->program(grid, rank); }));
        priced.push_back(one);
    }
    std::stable_sort(priced.begin(), priced.end(),
                     [](auto& a, auto& b) { return a.seconds < b.seconds; });
    return priced;
}

Seconds FilterPrices::redistribution(const filtering::Way& from, const filtering::Way& to) {
    const Grid before = filtering::grid_of(task_, from);
    const halo::Grid after{{filtering::grid_of(task_, to)}, 0};
    return of(make_schedule(std::max(from.ranks(), to.ranks()),
                            [&](int rank) { return halo::redistribution(before, after, rank); }));
}

GridPrices FilterPrices::on(const filtering::Way& way) {
    const Grid grid = filtering::grid_of(task_, way);
    GridPrices priced{way};
    for (const Elements margin : task_.margins) {
        if (priced.exchange.contains(margin))
            continue;
        priced.exchange[margin] = of(make_schedule(grid.ranks(), [&](int rank) {
            return filtering::border_exchange(grid, margin, rank);
        }));
    }
    priced.work = work_on(way);
    const auto cheapest = [](const std::vector<PricedCollective>& all) {
        return all.empty() ? any_price : all.front().seconds;
    };
    priced.scatter = price(Collective::scatter, grid, any_price);
    priced.gather = price(Collective::gather, grid, any_price);
    // A broadcast saves an exchange, an all-gather all of them, or a gather.
    const Seconds first_exchange = priced.exchange.at(task_.margins.front());
    priced.broadcast =
        price(Collective::broadcast, grid, cheapest(priced.scatter) + first_exchange);
    priced.all_gather =
        price(Collective::all_gather, grid, cheapest(priced.gather) + priced.exchanges(task_));
    return priced;
}

} // namespace sextant::planner

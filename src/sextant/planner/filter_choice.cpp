// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/filter_choice.hpp"

#include "sextant/core/error.hpp"
#include "sextant/filtering/filter_program.hpp"
#include "sextant/halo/redistribution.hpp"
#include "sextant/planner/filter_path.hpp"
#include "sextant/planner/predictor.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace sextant::planner {

namespace {

constexpr Seconds unknown = std::numeric_limits<Seconds>::infinity();

class Choosing {
  public:
    Choosing(const FilterQuestion& question, const machine::Profile& machine)
        : question_(question),
          task_(question.task),
          machine_(machine),
          prices_(question, machine) {}

    FilterChoice choose() {
        FilterChoice choice;
        price(grids(), choice);
        choice.machine = machine_.name;
        choice.candidates = candidates();
        FilterPath path = cheapest_filter_path(question_, grids_, choice.best().way, prices_);
        choice.path = std::move(path.transitions);
        choice.path_seconds = path.seconds;
        choice.played = played(choice.best());
        choice.model = prices_.model();
        choice.remarks = prices_.remarks();
        return choice;
    }

  private:
    /// Grids that fit the image and the request, except the grid of one rank, which moves nothing.
    std::vector<filtering::Way> grids() const {
        std::vector<filtering::Way> fitting;
        std::string refusal = fmt::format("no grid of {} tiles or fewer is {}x{}", question_.ranks,
                                          question_.columns, question_.rows);
        for (const int ranks : numbers_of_ranks()) {
            for (const filtering::Way& grid : filtering::grids_of(ranks)) {
                const bool asked = question_.columns == 0 || (grid.columns == question_.columns &&
                                                              grid.rows == question_.rows);
                if (!asked)
                    continue;
                try {
                    filtering::check(kept(), grid);
                    fitting.push_back(grid);
                } catch (const InvalidTask& why) {
                    refusal = why.what();
                }
            }
        }
        if (fitting.empty() && !question_.may_be_alone())
            throw InvalidTask(refusal);
        return fitting;
    }

    /// The task without collection, to check it before a gather is chosen.
    filtering::Task kept() const {
        filtering::Task task = task_;
        task.collect = false;
        return task;
    }

    /// All rank counts up to 64; above, each is a sixteenth less than the one before.
    std::vector<int> numbers_of_ranks() const {
        constexpr int few = 64;
        std::vector<int> all = {question_.ranks};
        while (question_.knows_work() && all.back() > 2)
            all.push_back(all.back() - (all.back() > few ? all.back() / 16 : 1));
        return all;
    }

    /// Prices all grids that use every rank; of the others, those that may be the fastest, the most
    /// promising first.
    void price(const std::vector<filtering::Way>& all, FilterChoice& choice) {
        Seconds best = question_.may_be_alone() && task_.collect ? work_alone_of_all() : unknown;
        const auto price = [&](const filtering::Way& grid) {
            grids_.push_back(prices_.on(grid));
            best = std::min(best, cheapest_on(grids_.back()));
        };
        std::vector<FilterChoice::PassedOver> others;
        for (const filtering::Way& grid : all) {
            if (grid.ranks() == question_.ranks)
                price(grid);
        }
        for (const filtering::Way& grid : all) {
            if (grid.ranks() == question_.ranks)
                continue;
            const Seconds work = prices_.work_on(grid) * filters();
            others.push_back({grid, work >= best ? work : prices_.least(grid)});
        }
        std::stable_sort(others.begin(), others.end(),
                         [](auto& a, auto& b) { return a.at_least < b.at_least; });
        for (const FilterChoice::PassedOver& other : others) {
            if (other.at_least < best)
                price(other.grid);
            else
                choice.passed_over.push_back(other);
        }
    }

    double filters() const { return static_cast<double>(task_.margins.size()); }
    Seconds work_alone_of_all() const { return prices_.work_alone() * filters(); }

    /// By scatters; broadcasts and other states may be cheaper still.
    Seconds cheapest_on(const GridPrices& grid) const {
        if (grid.scatter.empty() || (task_.collect && grid.gather.empty()))
            return unknown;
        return grid.scatter.front().seconds + grid.exchanges(task_) + grid.work * filters() +
               (task_.collect ? task_.outputs * grid.gather.front().seconds : Seconds{0});
    }

    /// Every configuration on every grid, and rank 0 doing all the work.
    std::vector<FilterCandidate> candidates() const {
        std::vector<FilterCandidate> all;
        if (question_.may_be_alone() && task_.collect) {
            FilterCandidate by_rank_0;
            by_rank_0.work = work_alone_of_all();
            all.push_back(by_rank_0);
        }
        for (const GridPrices& grid : grids_) {
            const Seconds exchanges = grid.exchanges(task_);
            for (const PricedCollective& distribute : grid.scatter)
                add_collected(all, grid, distribute, exchanges);
            for (const PricedCollective& distribute : grid.broadcast)
                add_collected(all, grid, distribute,
                              exchanges - grid.exchange.at(task_.margins.front()));
        }
        if (all.empty())
            throw InvalidTask("none of the collectives to choose from distributes and collects");
        std::stable_sort(all.begin(), all.end(),
                         [](auto& a, auto& b) { return a.seconds() < b.seconds(); });
        return all;
    }

    void add_collected(std::vector<FilterCandidate>& all, const GridPrices& grid,
                       const PricedCollective& distribute, Seconds exchanges) const {
        FilterCandidate made{grid.grid, distribute.seconds, exchanges, grid.work * filters(),
                             0,         distribute.at_least};
        made.way.distribute = distribute.row;
        if (!task_.collect)
            return all.push_back(made);
        for (const PricedCollective& gather : grid.gather) {
            made.way.collect = gather.row;
            made.collect = task_.outputs * gather.seconds;
            all.push_back(made);
        }
    }

    /// Predicts the whole program as one schedule, unless that takes too long: the number of
    /// dependences between steps on the same tiles grows with the square of the number of steps.
    std::optional<Seconds> played(const FilterCandidate& candidate) {
        constexpr std::size_t most_pairs = 1'000'000;
        const filtering::Way& way = candidate.way;
        if (way.ranks() == 1)
            return candidate.work;
        std::size_t pairs = 0;
        Schedule schedule;
        for (int rank = 0; rank < way.ranks(); ++rank) {
            schedule.push_back(filtering::program(task_, way, rank));
            pairs += schedule.back().steps.size() * schedule.back().steps.size();
            if (pairs > most_pairs)
                return std::nullopt;
        }
        return prices_.of(schedule) + candidate.work;
    }

    const FilterQuestion& question_;
    const filtering::Task& task_;
    const machine::Profile& machine_;
    FilterPrices prices_;
    std::vector<GridPrices> grids_;
};

} // namespace

std::string FilterState::text() const {
    switch (kind) {
    case Kind::at_root:
        return "on rank 0";
    case Kind::everywhere:
        return fmt::format("on all of {} ranks", columns * rows);
    case Kind::tiles:
        return fmt::format("in {}x{} tiles", columns, rows);
    case Kind::anywhere:
        return "done";
    }
    return "";
}

FilterChoice choose_filter(const FilterQuestion& question, const machine::Profile& machine) {
    if (question.ranks < 1)
        throw InvalidTask(fmt::format("{} ranks: expected 1 or more", question.ranks));
    if (!(question.work >= 0 && question.work < std::numeric_limits<Seconds>::infinity()))
        throw InvalidTask(
            fmt::format("a filter of {} s a pixel: expected 0 or more", question.work));
    for (const std::string& name : question.collectives)
        collective::find(name);
    filtering::check({question.task.width, question.task.height, question.task.margins,
                      question.task.outputs, false},
                     {});
    return Choosing(question, machine).choose();
}

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

/// The time that rank 0 needs if no other rank keeps it waiting.
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

/// The cost of evaluating an all-to-all pattern grows with the square of the ranks, so it is
/// evaluated only if rank 0 alone takes no longer than `worth`.
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
    // The most that they can save: a broadcast one exchange; an all-gather all of them, or a
    // gather.
    const Seconds first_exchange = priced.exchange.at(task_.margins.front());
    priced.broadcast =
        price(Collective::broadcast, grid, cheapest(priced.scatter) + first_exchange);
    priced.all_gather =
        price(Collective::all_gather, grid, cheapest(priced.gather) + priced.exchanges(task_));
    return priced;
}

} // namespace sextant::planner

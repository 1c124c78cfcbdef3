// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/filter_choice.hpp"

#include "sextant/core/error.hpp"
#include "sextant/filtering/program.hpp"
#include "sextant/planner/filter_path.hpp"

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
    /// Grids that fit the image and what is asked; not that of one rank, which moves nothing.
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

    /// The task without its end, to be checked before a gather is known.
    filtering::Task kept() const {
        filtering::Task task = task_;
        task.collect = false;
        return task;
    }

    /// Any number of few ranks; of more, each a sixteenth less than the one before.
    std::vector<int> numbers_of_ranks() const {
        constexpr int few = 64;
        std::vector<int> all = {question_.ranks};
        while (question_.knows_work() && all.back() > 2)
            all.push_back(all.back() - (all.back() > few ? all.back() / 16 : 1));
        return all;
    }

    /// Grids of all ranks; of fewer those that may be the fastest, the most promising first.
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

    /// Of scatters; broadcasts and other states may be cheaper still.
    Seconds cheapest_on(const GridPrices& grid) const {
        if (grid.scatter.empty() || (task_.collect && grid.gather.empty()))
            return unknown;
        return grid.scatter.front().seconds + grid.exchanges(task_) + grid.work * filters() +
               (task_.collect ? task_.outputs * grid.gather.front().seconds : Seconds{0});
    }

    /// Every way on every grid, and none.
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

    /// Walks the whole program, if that does not take too long: dependences between steps on the
    /// same tiles go with the square of their number.
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

} // namespace sextant::planner

// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/filter_choice.hpp"

#include "sextant/core/error.hpp"
#include "sextant/filtering/program.hpp"
#include "sextant/planner/filter_prices.hpp"
#include "sextant/planner/state_graph.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

namespace sextant::planner {

namespace {

using Kind = FilterState::Kind;

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
        price_changes(choice.best().way);
        find_path(choice);
        choice.played = played(choice.best());
        choice.model = prices_.model();
        choice.remarks = prices_.remarks();
        return choice;
    }

  private:
    bool knows_work() const { return question_.work > 0; }

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
        if (fitting.empty() && !alone())
            throw InvalidTask(refusal);
        return fitting;
    }

    /// Whether rank 0 might do everything.
    bool alone() const { return knows_work() && question_.columns * question_.rows <= 1; }

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
        while (knows_work() && all.back() > 2)
            all.push_back(all.back() - (all.back() > few ? all.back() / 16 : 1));
        return all;
    }

    /// Grids of all ranks; of fewer those that may be the fastest, the most promising first.
    void price(const std::vector<filtering::Way>& all, FilterChoice& choice) {
        Seconds best = alone() && task_.collect ? work_alone_of_all() : unknown;
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
        if (alone() && task_.collect)
            all.push_back({{}, 0, 0, work_alone_of_all(), 0});
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

    /// To and from the tiles of the best candidate: only grids that are cheaper in some part are
    /// worth a change.
    void price_changes(const filtering::Way& best) {
        const auto same = [&](const GridPrices& grid) {
            return grid.grid.columns == best.columns && grid.grid.rows == best.rows;
        };
        const auto found = std::find_if(grids_.begin(), grids_.end(), same);
        if (found == grids_.end())
            return;
        const auto home = static_cast<std::size_t>(found - grids_.begin());
        for (std::size_t g = 0; g < grids_.size(); ++g) {
            if (g == home || !cheaper_in_part(grids_[g], *found))
                continue;
            for (const auto& [from, to] : {std::pair(home, g), std::pair(g, home)})
                changes_.push_back(
                    {from, to, prices_.redistribution(grids_[from].grid, grids_[to].grid)});
        }
    }

    static bool cheaper_in_part(const GridPrices& one, const GridPrices& other) {
        using Collectives = std::vector<PricedCollective> GridPrices::*;
        const auto cheaper = [&](Collectives which) {
            return !(one.*which).empty() && !(other.*which).empty() &&
                   (one.*which).front().seconds < (other.*which).front().seconds;
        };
        const bool filters =
            std::any_of(one.exchange.begin(), one.exchange.end(), [&](const auto& exchange) {
                return exchange.second + one.work < other.exchange.at(exchange.first) + other.work;
            });
        return filters || cheaper(&GridPrices::scatter) || cheaper(&GridPrices::gather) ||
               cheaper(&GridPrices::broadcast);
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

    // The graph of states: rank 0, everywhere and tiles of each grid, and where a program may end.

    static constexpr int at_root = 0, end = 1;
    int everywhere(std::size_t grid) const { return 2 + static_cast<int>(2 * grid); }
    int tiles(std::size_t grid) const { return everywhere(grid) + 1; }

    FilterState state(int number) const {
        if (number == at_root)
            return {};
        if (number == end)
            return {Kind::anywhere};
        const filtering::Way& grid = grids_[static_cast<std::size_t>(number / 2 - 1)].grid;
        if (number % 2 == 0)
            return {Kind::everywhere, grid.ranks(), 1};
        return {Kind::tiles, grid.columns, grid.rows};
    }

    /// Edges with what they are called.
    struct Named {
        std::vector<Edge> edges;
        std::vector<std::string> names;

        void add(int from, int to, const std::vector<PricedCollective>& cheapest_first,
                 int times = 1) {
            if (!cheapest_first.empty())
                add(from, to, std::string(cheapest_first.front().row->name),
                    times * cheapest_first.front().seconds);
        }
        void add(int from, int to, const std::string& name, Seconds seconds) {
            edges.push_back({from, to, seconds});
            names.push_back(name);
        }
    };

    /// Between filters, or at the end, where rank 0 collects so many images.
    Named conversions(int images) const {
        Named all;
        for (std::size_t g = 0; g < grids_.size(); ++g) {
            const GridPrices& grid = grids_[g];
            all.add(at_root, tiles(g), grid.scatter, images);
            all.add(at_root, everywhere(g), grid.broadcast, images);
            all.add(tiles(g), at_root, grid.gather, images);
            all.add(tiles(g), everywhere(g), grid.all_gather, images);
            all.add(everywhere(g), tiles(g), "each takes its tile", 0);
            all.add(everywhere(g), at_root, "rank 0 has it", 0);
        }
        for (const Change& change : changes_)
            all.add(tiles(change.from), tiles(change.to), "redistribution",
                    images * change.seconds);
        return all;
    }

    Named operations(Elements margin) const {
        Named all;
        if (alone())
            all.add(at_root, at_root, "filter", prices_.work_alone());
        for (std::size_t g = 0; g < grids_.size(); ++g) {
            const GridPrices& grid = grids_[g];
            all.add(tiles(g), tiles(g), "exchange of borders, filter",
                    grid.exchange.at(margin) + grid.work);
            all.add(everywhere(g), tiles(g), "filter", grid.work);
            if (knows_work())
                all.add(everywhere(g), everywhere(g), "filter all of it", prices_.work_alone());
        }
        return all;
    }

    void find_path(FilterChoice& choice) const {
        std::map<Elements, std::size_t> kinds;
        std::vector<Named> before, during;
        StateGraph graph;
        graph.states = 2 + static_cast<int>(2 * grids_.size());
        for (const Elements margin : task_.margins) {
            const auto [kind, is_new] = kinds.insert({margin, kinds.size()});
            if (is_new) {
                before.push_back(conversions(1));
                during.push_back(operations(margin));
                graph.kinds.push_back({before.back().edges, during.back().edges});
            }
            graph.each.push_back(kind->second);
        }
        Named last = conversions(task_.outputs);
        for (std::size_t g = 0; g < grids_.size() && !task_.collect; ++g)
            last.add(tiles(g), end, "each keeps its tiles", 0);
        if (task_.collect)
            last.add(at_root, end, "done", 0);
        graph.last = last.edges;
        const CheapestPath path = cheapest_path(graph, at_root, end);
        choice.path_seconds = path.seconds;
        for (const Hop& hop : path.hops) {
            const Named& named = hop.stage == graph.each.size() ? last
                                 : hop.operation                ? during[graph.each[hop.stage]]
                                                                : before[graph.each[hop.stage]];
            add(choice.path, named, hop.edge, hop.stage == graph.each.size() ? task_.outputs : 1);
        }
    }

    /// As often as the same follows itself.
    void add(std::vector<FilterTransition>& path, const Named& named, std::size_t edge,
             int images) const {
        const Edge& taken = named.edges[edge];
        if (taken.to == end)
            return;
        const FilterTransition made{state(taken.from), state(taken.to), named.names[edge],
                                    taken.seconds / images, images};
        const bool repeats = !path.empty() && path.back().how == made.how &&
                             path.back().seconds == made.seconds && taken.from == taken.to;
        if (repeats)
            ++path.back().times;
        else
            path.push_back(made);
    }

    const FilterQuestion& question_;
    const filtering::Task& task_;
    const machine::Profile& machine_;
    FilterPrices prices_;
    std::vector<GridPrices> grids_;

    /// Of tiles, between two grids.
    struct Change {
        std::size_t from = 0, to = 0;
        Seconds seconds = 0;
    };
    std::vector<Change> changes_;
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

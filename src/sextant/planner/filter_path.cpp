// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/planner/filter_path.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace sextant::planner {

namespace {

/// The least cost of each state after one step of the chain, and how it is reached.
struct Reached {
    std::vector<Seconds> seconds;
    std::vector<std::optional<std::size_t>> by; ///< edge; none if the state was already reached

    explicit Reached(int states)
        : seconds(static_cast<std::size_t>(states), std::numeric_limits<Seconds>::infinity()),
          by(static_cast<std::size_t>(states)) {}

    Seconds& at(int state) { return seconds[static_cast<std::size_t>(state)]; }
    Seconds at(int state) const { return seconds[static_cast<std::size_t>(state)]; }
    std::optional<std::size_t>& edge(int state) { return by[static_cast<std::size_t>(state)]; }
};

Reached convert(const Reached& before, std::span<const Edge> edges) {
    Reached after(static_cast<int>(before.seconds.size()));
    after.seconds = before.seconds;
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t i = 0; i < edges.size(); ++i) {
            const Seconds there = after.at(edges[i].from) + edges[i].seconds;
            if (there < after.at(edges[i].to)) {
                after.at(edges[i].to) = there;
                after.edge(edges[i].to) = i;
                changed = true;
            }
        }
    }
    return after;
}

Reached operate(const Reached& before, std::span<const Edge> edges) {
    Reached after(static_cast<int>(before.seconds.size()));
    for (std::size_t i = 0; i < edges.size(); ++i) {
        const Seconds there = before.at(edges[i].from) + edges[i].seconds;
        if (there < after.at(edges[i].to)) {
            after.at(edges[i].to) = there;
            after.edge(edges[i].to) = i;
        }
    }
    return after;
}

} // namespace

CheapestPath cheapest_path(const StateGraph& graph, int from, int to) {
    std::vector<Reached> steps; // conversions and operations alternately, conversions last
    Reached start(graph.states);
    start.at(from) = 0;
    for (const std::size_t kind : graph.each) {
        steps.push_back(
            convert(steps.empty() ? start : steps.back(), graph.kinds[kind].conversions));
        steps.push_back(operate(steps.back(), graph.kinds[kind].operations));
    }
    steps.push_back(convert(steps.empty() ? start : steps.back(), graph.last));
    CheapestPath path{{}, steps.back().at(to)};
    if (path.seconds == std::numeric_limits<Seconds>::infinity())
        return path;
    int state = to;
    for (std::size_t step = steps.size(); step-- > 0;) {
        const std::size_t stage = step / 2;
        const bool operation = step % 2 == 1;
        const std::vector<Edge>& edges = stage == graph.each.size() ? graph.last
                                         : operation ? graph.kinds[graph.each[stage]].operations
                                                     : graph.kinds[graph.each[stage]].conversions;
        while (const auto edge = steps[step].edge(state)) {
            path.hops.push_back({stage, operation, *edge});
            state = edges[*edge].from;
            if (operation)
                break; // one operation per stage
        }
    }
    std::reverse(path.hops.begin(), path.hops.end());
    return path;
}

namespace {

using Kind = FilterState::Kind;

/// The graph of states: rank 0, everywhere and the tiles of each grid, and the end of the program.
class FilterGraph {
  public:
    FilterGraph(const FilterQuestion& question, const std::vector<GridPrices>& grids,
                FilterPrices& prices)
        : question_(question), task_(question.task), grids_(grids), prices_(prices) {}

    /// Prices changes to and from the tiles of the best candidate. Only grids that are cheaper in
    /// some part are worth a change.
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

    FilterPath cheapest() const {
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
        FilterPath found{{}, path.seconds};
        for (const Hop& hop : path.hops) {
            const Named& named = hop.stage == graph.each.size() ? last
                                 : hop.operation                ? during[graph.each[hop.stage]]
                                                                : before[graph.each[hop.stage]];
            add(found.transitions, named, hop.edge,
                hop.stage == graph.each.size() ? task_.outputs : 1);
        }
        return found;
    }

  private:
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

    /// Edges and their names.
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

    /// Conversions between filters, or at the end, where rank 0 collects `images` images.
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
        if (question_.may_be_alone())
            all.add(at_root, at_root, "filter", prices_.work_alone());
        for (std::size_t g = 0; g < grids_.size(); ++g) {
            const GridPrices& grid = grids_[g];
            all.add(tiles(g), tiles(g), "exchange of borders, filter",
                    grid.exchange.at(margin) + grid.work);
            all.add(everywhere(g), tiles(g), "filter", grid.work);
            if (question_.knows_work())
                all.add(everywhere(g), everywhere(g), "filter all of it", prices_.work_alone());
        }
        return all;
    }

    /// Adds a transition, or counts it as a repetition of the last one if it is the same.
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
    const std::vector<GridPrices>& grids_;
    FilterPrices& prices_;

    /// A change of tiles between two grids.
    struct Change {
        std::size_t from = 0, to = 0;
        Seconds seconds = 0;
    };
    std::vector<Change> changes_;
};

} // namespace

FilterPath cheapest_filter_path(const FilterQuestion& question,
                                const std::vector<GridPrices>& grids, const filtering::Way& best,
                                FilterPrices& prices) {
    FilterGraph graph(question, grids, prices);
    graph.price_changes(best);
    return graph.cheapest();
}

} // namespace sextant::planner

// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/graph_drawing.hpp"
#include "sextant/report/text.hpp"
#include "sextant/schedule/dependences.hpp"
#include "sextant/schedule/walk.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>

namespace sextant::report {

namespace {

struct RankState {
    explicit RankState(const Program& p)
        : dependences(p), walk(p, dependences), ready(p.steps.size(), 0) {}

    Dependences dependences;
    Walk walk;
    std::vector<std::uint8_t> ready;
};

std::vector<std::unique_ptr<RankState>> states_of(const Schedule& schedule) {
    std::vector<std::unique_ptr<RankState>> states;
    for (const Program& program : schedule) {
        try {
            states.push_back(std::make_unique<RankState>(program));
        } catch (const std::logic_error& error) {
            throw std::logic_error(fmt::format("rank {}, {}", states.size(), error.what()));
        }
    }
    return states;
}

/// Returns the steps that can run now: work that is ready, and messages that are ready on both
/// sides.
std::vector<StepOfRank> possible(std::vector<std::unique_ptr<RankState>>& states,
                                 const std::vector<std::vector<StepOfRank>>& mates) {
    std::vector<StepOfRank> now;
    for (std::size_t rank = 0; rank < states.size(); ++rank) {
        RankState& state = *states[rank];
        for (int s = state.walk.next_work(); s != Walk::none; s = state.walk.next_work()) {
            now.push_back({static_cast<int>(rank), s});
        }
        for (int s = state.walk.next_message(); s != Walk::none; s = state.walk.next_message()) {
            state.ready[static_cast<std::size_t>(s)] = 1;
            const StepOfRank mate = mates[rank][static_cast<std::size_t>(s)];
            const RankState& other = *states[static_cast<std::size_t>(mate.rank)];
            if (!other.ready[static_cast<std::size_t>(mate.step)])
                continue;
            now.push_back({static_cast<int>(rank), s});
            now.push_back(mate);
        }
    }
    return now;
}

[[noreturn]] void fail_deadlock(const Schedule& schedule,
                                const std::vector<std::unique_ptr<RankState>>& states) {
    constexpr int most_named = 8;
    std::string ranks;
    int waiting = 0;
    for (std::size_t rank = 0; rank < states.size(); ++rank) {
        const Walk& walk = states[rank]->walk;
        if (walk.done() || ++waiting > most_named)
            continue;
        int stuck = 0;
        while (walk.finished(stuck))
            ++stuck;
        const Verb verb = schedule[rank].steps[static_cast<std::size_t>(stuck)].verb;
        ranks += fmt::format("{}rank {} at step {} ({})", waiting > 1 ? ", " : "", rank, stuck,
                             name(verb));
    }
    if (waiting > most_named)
        ranks += fmt::format(" and {} more", waiting - most_named);
    throw std::logic_error("deadlock: the schedule never finishes; waiting forever: " + ranks);
}

} // namespace

Levels levels(const Schedule& schedule, const std::vector<std::vector<StepOfRank>>& mates) {
    auto states = states_of(schedule);
    Levels levels;
    for (const Program& program : schedule)
        levels.of.emplace_back(program.steps.size(), 0);
    for (auto now = possible(states, mates); !now.empty(); now = possible(states, mates)) {
        for (const StepOfRank& at : now) {
            levels.of[static_cast<std::size_t>(at.rank)][static_cast<std::size_t>(at.step)] =
                levels.count;
            states[static_cast<std::size_t>(at.rank)]->walk.finish(at.step);
        }
        ++levels.count;
    }
    for (const auto& state : states) {
        if (!state->walk.done())
            fail_deadlock(schedule, states);
    }
    return levels;
}

namespace {

/// The column of each step within its level. At each level, the sends of a rank are numbered from
/// 0, and so are its other steps.
struct Columns {
    std::vector<std::vector<int>> within; ///< column by rank and step
    std::vector<int> width;               ///< number of columns by level
};

Columns columns_of(const Schedule& schedule, const Levels& levels) {
    Columns columns{{}, std::vector<int>(static_cast<std::size_t>(levels.count), 1)};
    for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
        const auto& steps = schedule[rank].steps;
        auto& within = columns.within.emplace_back(steps.size(), 0);
        std::vector<int> sends(columns.width.size(), 0), works(columns.width.size(), 0);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            if (steps[i].verb == Verb::receive)
                continue;
            const auto level = static_cast<std::size_t>(levels.of[rank][i]);
            within[i] = (steps[i].verb == Verb::send ? sends : works)[level]++;
            columns.width[level] = std::max(columns.width[level], within[i] + 1);
        }
    }
    return columns;
}

void add_step(MessageGraph& graph, const Program& program, StepOfRank at, StepOfRank mate,
              int level, int column) {
    const Step& step = program.steps[static_cast<std::size_t>(at.step)];
    graph.rounds = std::max(graph.rounds, step.round + 1);
    if (step.verb == Verb::receive)
        return;
    if (step.verb == Verb::send) {
        const Elements elements = program.elements_of(step);
        ++graph.messages;
        graph.moved += elements;
        graph.arrows.push_back(
            {at.rank, mate.rank, column, level, step.round, 1, elements, at, mate});
        return;
    }
    ++(step.verb == Verb::fold   ? graph.folds
       : step.verb == Verb::copy ? graph.copies
                                 : graph.computations);
    graph.boxes.push_back(
        {at.rank, column, level, step.verb, step.round, 1, static_cast<int>(step.count), at});
}

auto place(const Arrow& arrow) {
    return std::tuple(arrow.column, arrow.from, arrow.to);
}

auto place(const Box& box) {
    return std::tuple(box.column, box.lane, box.verb);
}

void add(Arrow& sum, const Arrow& arrow) {
    sum.messages += arrow.messages;
    sum.elements += arrow.elements;
    sum.round = std::min(sum.round, arrow.round);
}

void add(Box& sum, const Box& box) {
    sum.steps += box.steps;
    sum.operands = std::max(sum.operands, box.operands);
    sum.round = std::min(sum.round, box.round);
}

/// Merges arrows or boxes with the same position.
template <class Mark>
void merge(std::vector<Mark>& marks) {
    std::stable_sort(marks.begin(), marks.end(),
                     [](const Mark& a, const Mark& b) { return place(a) < place(b); });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < marks.size(); ++i) {
        if (kept > 0 && place(marks[kept - 1]) == place(marks[i]))
            add(marks[kept - 1], marks[i]);
        else
            marks[kept++] = marks[i];
    }
    marks.resize(kept);
}

/// The columns of a graph after merging groups of `merged` neighbouring columns. If `levels_apart`,
/// only columns of the same level are merged.
struct MergedColumns {
    MergedColumns(const MessageGraph& graph, int merged, bool levels_apart)
        : old_begins(graph.level_begins), merge(merged), apart(levels_apart) {
        count = (graph.columns + merge - 1) / merge;
        if (apart)
            count = 0;
        for (int level = 0; level < graph.levels(); ++level) {
            const bool last = level + 1 == graph.levels();
            const int begin = begin_of(level), end = last ? graph.columns : begin_of(level + 1);
            begins.push_back(apart ? count : begin / merge);
            if (apart)
                count += (end - begin + merge - 1) / merge;
        }
    }
    int begin_of(int level) const { return old_begins[static_cast<std::size_t>(level)]; }
    int column(int level, int old) const {
        if (!apart)
            return old / merge;
        return begins[static_cast<std::size_t>(level)] + (old - begin_of(level)) / merge;
    }

    const std::vector<int>& old_begins;
    const int merge;
    const bool apart;
    std::vector<int> begins;
    int count = 0;
};

MessageGraph coarser(const MessageGraph& graph, int ranks_per_lane, const MergedColumns& columns) {
    MessageGraph out = graph;
    out.ranks_per_lane = ranks_per_lane;
    out.lanes = (graph.ranks + ranks_per_lane - 1) / ranks_per_lane;
    out.merged_columns = columns.merge;
    out.columns = columns.count;
    out.level_begins = columns.begins;
    for (Arrow& arrow : out.arrows) {
        arrow.from /= ranks_per_lane;
        arrow.to /= ranks_per_lane;
        arrow.column = columns.column(arrow.level, arrow.column);
    }
    for (Box& box : out.boxes) {
        box.lane /= ranks_per_lane;
        box.column = columns.column(box.level, box.column);
    }
    merge(out.arrows);
    merge(out.boxes);
    return out;
}

} // namespace

MessageGraph message_graph(const Schedule& schedule) {
    const auto mates = match_messages(schedule);
    const Levels time = levels(schedule, mates);
    const Columns columns = columns_of(schedule, time);
    MessageGraph graph;
    graph.ranks = graph.lanes = static_cast<int>(schedule.size());
    for (int width : columns.width) {
        graph.level_begins.push_back(graph.columns);
        graph.columns += width;
    }
    for (std::size_t rank = 0; rank < schedule.size(); ++rank) {
        for (std::size_t i = 0; i < schedule[rank].steps.size(); ++i) {
            const auto level = static_cast<std::size_t>(time.of[rank][i]);
            add_step(graph, schedule[rank], {static_cast<int>(rank), static_cast<int>(i)},
                     mates[rank][i], time.of[rank][i],
                     graph.level_begins[level] + columns.within[rank][i]);
        }
    }
    const auto earlier = [](const auto& a, const auto& b) { return place(a) < place(b); };
    std::stable_sort(graph.arrows.begin(), graph.arrows.end(), earlier);
    std::stable_sort(graph.boxes.begin(), graph.boxes.end(), earlier);
    return graph;
}

MessageGraph aggregated(const MessageGraph& graph, std::size_t most_arrows, int most_lanes) {
    constexpr int fine_columns = 240, coarse_columns = 30;
    const bool levels_apart = graph.levels() <= coarse_columns;
    int ranks_per_lane = std::max((graph.ranks + most_lanes - 1) / most_lanes, 1);
    int merged = std::max((graph.columns + fine_columns - 1) / fine_columns, 1);
    for (;;) {
        const MergedColumns columns(graph, merged, levels_apart);
        MessageGraph out = coarser(graph, ranks_per_lane, columns);
        const bool few = out.arrows.size() <= most_arrows && out.boxes.size() <= most_arrows;
        if (few || (out.lanes <= 1 && merged >= graph.columns))
            return out;
        if (out.lanes <= 1 || graph.columns > coarse_columns * merged)
            merged *= 2;
        else
            ranks_per_lane *= 2;
    }
}

namespace {

std::string describe(const Region& region) {
    if (region.empty())
        return fmt::format("buffer {}: nothing", region.buffer);
    if (region.contiguous()) {
        return fmt::format("buffer {}: {} to {}", region.buffer, grouped(region.offset),
                           grouped(region.end() - 1));
    }
    return fmt::format("buffer {}: {} runs of {} elements from {} on, with stride {}",
                       region.buffer, grouped(region.count), grouped(region.length),
                       grouped(region.offset), grouped(region.stride));
}

std::string verb_in_words(const Step& step) {
    switch (step.verb) {
    case Verb::send:
        return fmt::format("send to rank {}", step.peer);
    case Verb::receive:
        return fmt::format("receive from rank {}", step.peer);
    case Verb::fold:
        return fmt::format("fold of {}", counted(step.count, "operand"));
    case Verb::compute:
        return fmt::format("compute with kernel {}", step.kernel);
    case Verb::copy:
        break;
    }
    return std::string(name(step.verb));
}

/// Lists regions, one per line, with the prefix `before`.
std::string listed(std::span<const Region> regions, std::string_view before) {
    constexpr std::size_t most_regions = 8;
    const std::size_t named = std::min(regions.size(), most_regions);
    std::string text;
    for (const Region& region : regions.first(named))
        text += fmt::format("\n    {}{}", before, describe(region));
    if (regions.size() > named) {
        text +=
            fmt::format("\n    and {}",
                        counted(static_cast<std::int64_t>(regions.size() - named), "more region"));
    }
    return text;
}

} // namespace

std::string describe(const Schedule& schedule, StepOfRank at) {
    const Program& program = schedule[static_cast<std::size_t>(at.rank)];
    const Step& step = program.steps[static_cast<std::size_t>(at.step)];
    std::string text = fmt::format("rank {}, step {}: {}, round {}, group {}, {}", at.rank, at.step,
                                   verb_in_words(step), step.round, step.group,
                                   counted(program.elements_of(step), "element"));
    text += listed(program.regions_of(step), "");
    text += listed(program.made_by(step), "into ");
    if (has_destination(step.verb))
        text += fmt::format("\n    into {}", describe(step.to));
    return text;
}

} // namespace sextant::report

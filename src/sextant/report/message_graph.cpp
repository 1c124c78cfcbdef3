// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/message_graph.hpp"

#include "sextant/report/levels.hpp"

#include <algorithm>
#include <tuple>

namespace sextant::report {

namespace {

/// The column of each step within its level: sends are numbered through, and so is work.
struct Columns {
    std::vector<std::vector<int>> within; ///< by rank and step
    std::vector<int> width;               ///< by level
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

/// Puts marks in the same place together.
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

/// The columns of a graph after `merged` of them have become one: its levels stay apart if told so.
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

} // namespace sextant::report

// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/graph_text.hpp"

#include "sextant/report/text.hpp"

#include <fmt/format.h>

namespace sextant::report {

namespace {

void add_aggregation(const MessageGraph& graph, std::vector<std::string>& notes) {
    const bool merged = graph.merged_columns > 1;
    notes.push_back(fmt::format(
        "Aggregated: {} in {}, {} in {}{}.", counted(graph.ranks, "rank"),
        counted(graph.lanes, "lane"), counted(graph.messages, "message"),
        counted(static_cast<std::int64_t>(graph.arrows.size()), "arrow"),
        merged ? fmt::format(", {} columns of time in one", graph.merged_columns) : ""));
    notes.push_back(merged
                        ? "Left out: which ranks of two lanes exchange a message, and the order of "
                          "messages in an arrow."
                        : "Left out: which ranks of two lanes exchange a message.");
}

} // namespace

std::vector<KeyFigure> key_figures(const MessageGraph& graph) {
    std::vector<KeyFigure> figures = {
        key_figure(graph.ranks, "rank"),
        key_figure(graph.messages, "message"),
        {grouped(graph.moved), graph.moved == 1 ? "element moved" : "elements moved"},
        key_figure(graph.folds, "fold")};
    if (graph.copies > 0)
        figures.push_back(key_figure(graph.copies, "copy"));
    if (graph.computations > 0)
        figures.push_back(key_figure(graph.computations, "computation"));
    figures.push_back(key_figure(graph.rounds, "round"));
    figures.push_back(key_figure(graph.levels(), "level"));
    return figures;
}

std::vector<std::string> notes_on(const MessageGraph& graph, bool animated) {
    if (graph.levels() == 0)
        return {"Nothing to do: no rank sends, folds, copies or computes."};
    std::vector<std::string> notes = {
        "What can happen at once lies in one level; a message or a piece of work takes one.",
        "Within a level, the messages of a rank leave one after another."};
    if (animated)
        notes.push_back(fmt::format("Animated: {}, one after another, over and over.",
                                    counted(graph.rounds, "round")));
    if (graph.aggregated())
        add_aggregation(graph, notes);
    return notes;
}

} // namespace sextant::report

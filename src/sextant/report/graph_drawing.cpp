// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/graph_drawing.hpp"

#include "sextant/report/charts.hpp"
#include "sextant/report/svg.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace sextant::report {

namespace {

void add_aggregation(const MessageGraph& graph, std::vector<std::string>& notes) {
    const bool merged = graph.merged_columns > 1;
    notes.push_back(fmt::format(
        "Aggregated: {} in {}, {} in {}{}.", counted(graph.ranks, "rank"),
        counted(graph.lanes, "lane"), counted(graph.messages, "message"),
        counted(static_cast<std::int64_t>(graph.arrows.size()), "arrow"),
        merged ? fmt::format(", {} time columns merged into one", graph.merged_columns) : ""));
    notes.push_back(merged ? "Not shown: which ranks of two lanes exchange a message, and the "
                             "order of the messages that share an arrow."
                           : "Not shown: which ranks of two lanes exchange a message.");
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

std::vector<std::string> notes_on(const MessageGraph& graph) {
    if (graph.levels() == 0)
        return {"Nothing to do: no rank sends, folds, copies or computes."};
    std::vector<std::string> notes = {
        "Steps that can run at the same time share a level; a message or an operation takes one "
        "level.",
        "Within a level, a rank sends its messages one after another."};
    if (graph.aggregated())
        add_aggregation(graph, notes);
    return notes;
}

std::string RoundColours::class_of(int round) const {
    return fmt::format("r{}", colour_index(round, rounds_));
}

void RoundColours::add_styles(Svg& svg) const {
    const std::vector<Colour> colours = ordered_colours(rounds_);
    for (std::size_t i = 0; i < colours.size(); ++i) {
        svg.colour(fmt::format(".r{}", i), "stroke", colours[i]);
    }
}

std::vector<LegendEntry> RoundColours::legend() const {
    constexpr int most_named = 12, stripes = 24, stripe = 4;
    std::vector<LegendEntry> entries;
    for (int round = 0; round < rounds_ && rounds_ <= most_named; ++round) {
        entries.push_back(
            {fmt::format("<path class=\"{}\" stroke-width=\"3\" d=\"M0 6h18\"/>", class_of(round)),
             fmt::format("round {}", round)});
    }
    if (rounds_ <= most_named)
        return entries;
    LegendEntry ramp{"", fmt::format("rounds 0 to {}", rounds_ - 1), stripes * stripe};
    for (int i = 0; i < stripes; ++i) {
        ramp.symbol += fmt::format("<path class=\"{}\" stroke-width=\"8\" d=\"M{} 6h{}\"/>",
                                   class_of(i * (rounds_ - 1) / (stripes - 1)), stripe * i, stripe);
    }
    return {ramp};
}

namespace {

constexpr int aggregated_lanes = 64, most_columns = 400;
constexpr std::size_t most_aggregated_arrows = 4'000;
constexpr double right = 24;

MessageGraph graph_to_draw(const Schedule& schedule, const DrawOptions& options) {
    MessageGraph graph = message_graph(schedule);
    const bool small = graph.messages <= options.most_drawn && graph.lanes <= Lanes::most &&
                       graph.columns <= most_columns &&
                       graph.folds + graph.copies + graph.computations <= options.most_drawn;
    return small ? graph : aggregated(graph, most_aggregated_arrows, aggregated_lanes);
}

/// Positions of lanes and columns.
struct Layout {
    explicit Layout(const MessageGraph& graph) {
        const double columns = std::max(graph.columns, 1);
        column = std::min(1020 / columns, 128.0);
        if (!graph.aggregated())
            column = std::max(column, 16.0);
        plot = graph.columns * column;
        lanes.count = graph.lanes;
        lanes.height = graph.lanes <= 8 ? 46 : graph.lanes <= 16 ? 32 : graph.lanes <= 32 ? 23 : 16;
        if (graph.lanes > 64)
            lanes.height = 10;
    }
    double x(int c) const { return Lanes::left + c * column; }
    double width() const { return Lanes::left + std::max(plot, 540.0) + right; }
    /// Returns a scale for details: 1 for high lanes, less for low lanes.
    double room() const { return std::clamp(lanes.height / 46, 0.4, 1.0); }

    double column, plot; ///< widths of one column and of all columns
    Lanes lanes;
};

class Drawing {
  public:
    Drawing(const Schedule& schedule, const DrawOptions& options)
        : schedule_(schedule),
          graph_(graph_to_draw(schedule, options)),
          rounds_(graph_.rounds),
          layout_(graph_),
          thin_(graph_.messages > options.most_detailed && !graph_.aggregated()),
          svg_(options.title, options.subtitle, layout_.width()) {
        for (const Arrow& arrow : graph_.arrows) {
            most_ = std::max(most_, arrow.elements);
            least_ = std::min(least_, arrow.elements);
        }
    }

    std::string finish() {
        styles();
        svg_.figures(key_figures(graph_));
        legend();
        layout_.lanes.place(svg_);
        levels();
        lanes();
        svg_.add(thin_ ? "<g class=\"thin\">\n" : "<g>\n");
        for (const Arrow& arrow : graph_.arrows)
            draw(arrow);
        for (const Box& box : graph_.boxes)
            draw(box);
        svg_.add("</g>\n");
        for (const std::string& note : notes_on(graph_))
            svg_.note(note);
        return svg_.finish();
    }

  private:
    void styles() {
        Lanes::add_styles(svg_);
        svg_.style(".message", fmt::format("fill:none;stroke-linecap:round;stroke-linejoin:round;"
                                           "opacity:{:.2f}",
                                           graph_.lanes > 16 ? 0.8 : 0.95));
        svg_.style(".thin .message", "stroke-width:.5;opacity:.6");
        svg_.style(".message:hover", "stroke-width:5;opacity:1");
        svg_.colour(".box", "fill", {"#ffffff", "#15181d"});
        svg_.style(".box", fmt::format("stroke-width:{:.1f}", 1 + 0.5 * layout_.room()));
        svg_.style(".operands", "font-size:10px;font-weight:600;text-anchor:middle;"
                                "pointer-events:none");
        svg_.colour(".sample", "stroke", {"#66707c", "#98a2ae"});
        rounds_.add_styles(svg_);
    }

    void legend() {
        std::vector<LegendEntry> entries = rounds_.legend();
        if (most_ > least_) {
            entries.push_back({"<path class=\"sample\" stroke-width=\"0.9\" d=\"M0 6h8\"/>"
                               "<path class=\"sample\" stroke-width=\"2.5\" d=\"M10 6h8\"/>",
                               "wider: more elements"});
        }
        if (graph_.folds > 0) {
            entries.push_back(
                {"<rect class=\"box sample\" x=\"1\" y=\"0\" width=\"16\" "
                 "height=\"12\" rx=\"3\"/>",
                 graph_.aggregated() ? "folds" : "fold, with its number of operands"});
        }
        if (graph_.copies > 0) {
            entries.push_back({"<circle class=\"box sample\" cx=\"9\" cy=\"6\" r=\"4\"/>", "copy"});
        }
        if (graph_.computations > 0) {
            entries.push_back(
                {fmt::format("<path class=\"box sample\" d=\"{}\"/>", diamond(9, 6, 6)),
                 "computation"});
        }
        if (!entries.empty())
            svg_.legend(entries);
    }

    static std::string diamond(double x, double y, double radius) {
        return fmt::format("M{:.1f} {:.1f}l{:.1f} {:.1f}l{:.1f} {:.1f}l{:.1f} {:.1f}z", x - radius,
                           y, radius, -radius, radius, radius, -radius, radius);
    }

    void levels() {
        const Lanes& lanes = layout_.lanes;
        double labelled = -100;
        for (int level = 0; level < graph_.levels(); ++level) {
            const auto i = static_cast<std::size_t>(level);
            const bool last = level + 1 == graph_.levels();
            const double begin = layout_.x(graph_.level_begins[i]);
            const double end = layout_.x(last ? graph_.columns : graph_.level_begins[i + 1]);
            if (level % 2 == 0 && end - begin >= 8) {
                svg_.rectangle(begin, lanes.top, end - begin, lanes.bottom() - lanes.top, "band");
            }
            if (begin < labelled + 30)
                continue;
            labelled = begin;
            lanes.add_axis_label(svg_, (begin + end) / 2, std::to_string(level));
        }
        if (graph_.columns > 0)
            lanes.add_axis_name(svg_, "level");
    }

    void lanes() {
        for (int lane = 0; lane < graph_.lanes; ++lane) {
            const double y = layout_.lanes.middle(lane);
            svg_.line(Lanes::left, y, Lanes::left + std::max(layout_.plot, 40.0), y, "lane");
        }
        layout_.lanes.add_names(svg_, [this](int lane) {
            const int first = lane * graph_.ranks_per_lane;
            const int last = std::min(first + graph_.ranks_per_lane, graph_.ranks) - 1;
            return first == last ? fmt::format("rank {}", first)
                                 : fmt::format("{}–{}", first, last);
        });
    }

    std::string title_of(const Arrow& arrow) const {
        if (thin_)
            return "";
        std::string text;
        if (graph_.aggregated()) {
            text = fmt::format("{}, {}, from round {} on", counted(arrow.messages, "message"),
                               counted(arrow.elements, "element"), arrow.round);
        } else {
            text = describe(schedule_, arrow.send) + "\n" + describe(schedule_, arrow.receive);
        }
        return fmt::format("<title>{}</title>", escape(text));
    }

    /// Returns the path from the sender's lane to the receiver's; an arc if both are the same.
    std::string path_of(const Arrow& arrow) const {
        const double x1 = layout_.x(arrow.column) + 0.10 * layout_.column;
        const double x2 = x1 + 0.80 * layout_.column;
        const double y1 = layout_.lanes.middle(arrow.from), y2 = layout_.lanes.middle(arrow.to);
        const double bend = (0.05 + 0.4 * layout_.room()) * (x2 - x1);
        const double hump = arrow.from == arrow.to ? 0.55 * layout_.lanes.height : 0;
        const double head = thin_ ? 2 : std::min(3 + 2 * layout_.room(), 0.3 * layout_.column);
        return fmt::format("M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}"
                           "M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}",
                           x1, y1, x1 + bend, y1 - hump, x2 - bend, y2 - hump, x2, y2, x2 - head,
                           y2 - 0.7 * head, x2, y2, x2 - head, y2 + 0.7 * head);
    }

    void draw(const Arrow& arrow) {
        const double share =
            most_ > 0 ? static_cast<double>(arrow.elements) / static_cast<double>(most_) : 1;
        const double width = 0.4 + (0.5 + 1.6 * std::sqrt(share)) * layout_.room();
        svg_.add(fmt::format("<path class=\"message {}\" stroke-width=\"{:.1f}\" d=\"{}\">{}"
                             "</path>\n",
                             rounds_.class_of(arrow.round), width, path_of(arrow),
                             title_of(arrow)));
    }

    std::string title_of(const Box& box) const {
        if (thin_)
            return "";
        std::string text;
        if (!graph_.aggregated()) {
            text = describe(schedule_, box.step);
        } else {
            text = counted(box.steps, name(box.verb));
            if (box.verb == Verb::fold)
                text += fmt::format(" of up to {} operands", box.operands);
        }
        return fmt::format("<title>{}</title>", escape(text));
    }

    void draw(const Box& box) {
        const double x = layout_.x(box.column) + layout_.column / 2;
        const double y = layout_.lanes.middle(box.lane);
        if (box.verb == Verb::fold)
            return draw_fold(box, x, y);
        const double radius = std::min({0.4 * layout_.column, 0.25 * layout_.lanes.height, 6.0});
        const std::string round = rounds_.class_of(box.round);
        if (box.verb == Verb::copy) {
            svg_.add(fmt::format("<circle class=\"box copy {}\" cx=\"{:.1f}\" cy=\"{:.1f}\" "
                                 "r=\"{:.1f}\">{}</circle>\n",
                                 round, x, y, radius, title_of(box)));
        } else {
            svg_.add(fmt::format("<path class=\"box compute {}\" d=\"{}\">{}</path>\n", round,
                                 diamond(x, y, 1.3 * radius), title_of(box)));
        }
    }

    void draw_fold(const Box& box, double x, double y) {
        const std::string operands = std::to_string(box.operands);
        const double label = width_of_text(operands) + 5;
        const double room = std::clamp(label, 0.8 * layout_.column, 1.25 * layout_.column);
        const double height = std::min(0.72 * layout_.lanes.height, 18.0);
        double width = std::min(16.0 + 2.0 * std::min(box.operands, 24), room);
        if (graph_.aggregated())
            width = std::min(width, 0.7 * layout_.lanes.height);
        svg_.add(fmt::format("<rect class=\"box fold {}\" x=\"{:.1f}\" y=\"{:.1f}\" "
                             "width=\"{:.1f}\" height=\"{:.1f}\" rx=\"{:.1f}\">{}</rect>\n",
                             rounds_.class_of(box.round), x - width / 2, y - height / 2, width,
                             height, std::min(width, height) * 0.25, title_of(box)));
        if (graph_.aggregated() || height < 11 || width < label)
            return;
        svg_.text(x, y + 3.6, "operands", operands);
    }

    const Schedule& schedule_;
    const MessageGraph graph_;
    const RoundColours rounds_;
    Layout layout_;
    const bool thin_;
    Elements most_ = 0, least_ = INT64_MAX;
    Svg svg_;
};

} // namespace

std::string draw(const Schedule& schedule, const DrawOptions& options) {
    return Drawing(schedule, options).finish();
}

} // namespace sextant::report

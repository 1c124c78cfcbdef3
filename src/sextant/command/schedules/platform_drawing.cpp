// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/schedules/platform_drawing.hpp"

#include "sextant/report/svg.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace sextant::command {

namespace {

using report::counted;
using simulate::Network;

constexpr double page = 1000, margin = 24;
constexpr int most_in_row = 144, most_in_grid = 32;

/// A row of marks, each of which stands for one vertex of the network or for several in sequence.
struct MarkRow {
    std::string what; ///< kind of the marks
    int first = 0, vertices = 0;
    int merged = 1;        ///< vertices per mark
    bool numbered = false; ///< marks have their numbers below them
    int groups = 1;        ///< groups of marks, with gaps between them
    int mark = 0;          ///< the number of the first mark in the panel
};

struct Mark {
    std::string what, label;
    int row = 0, column = 0, group = 0;
    double x = 0, y = 0, radius = 0;
};

/// Parallel cables with the same speed.
struct Bundle {
    int cables = 0;
    double bytes_per_second = 0;
    std::string what = {}; ///< what they join

    std::string text() const {
        return fmt::format("{}: {}{}/s", what, cables > 1 ? fmt::format("{} × ", cables) : "",
                           report::bytes_to_text(bytes_per_second));
    }
};

/// A part of the drawing: rows of marks, the lowest first, and the bundles between them.
struct Panel {
    std::string title;
    double distance = 100;   ///< of rows
    double most_step = page; ///< the largest distance of the marks in a row
    double bulge = 0.5;      ///< of arcs between distant marks, per distance
    std::vector<MarkRow> rows = {};
    std::vector<Mark> marks = {};
    std::map<std::pair<int, int>, Bundle> bundles = {}; ///< by marks

    void add(MarkRow row) {
        const int count = row.vertices / row.merged, group = count / row.groups;
        const double gap = 0.25 * group, all = count + (row.groups - 1) * gap;
        const double step = std::min((page - 2 * margin) / all, most_step);
        const auto number = [&](int i) { return std::to_string(row.first / row.merged + i); };
        const bool named = row.numbered && report::width_of_text(number(count - 1)) + 6 < step;
        row.mark = static_cast<int>(marks.size());
        for (int i = 0; i < count; ++i) {
            marks.push_back({row.what, named ? number(i) : "", static_cast<int>(rows.size()), i,
                             i / group, page / 2 + (i + 0.5 + i / group * gap - all / 2) * step,
                             -distance * static_cast<double>(rows.size()),
                             std::min(6., 0.4 * step)});
        }
        rows.push_back(std::move(row));
    }
    /// The mark of a vertex; -1 if it is not drawn.
    int mark_of(int vertex) const {
        for (const MarkRow& row : rows) {
            if (vertex >= row.first && vertex < row.first + row.vertices)
                return row.mark + (vertex - row.first) / row.merged;
        }
        return -1;
    }
    const Mark& at(int mark) const { return marks[static_cast<std::size_t>(mark)]; }
};

/// The number of vertices per mark if `alike` marks, or fewer, are to stand for `vertices`.
int per_mark(int vertices, int alike) {
    int marks = vertices <= most_in_row ? vertices : std::min(alike, most_in_row);
    while (vertices % marks != 0)
        --marks;
    return vertices / marks;
}

/// The drawing of one platform.
class Drawing {
  public:
    explicit Drawing(const simulate::Platform& platform)
        : platform_(platform), host_(network_.ports.count > 1 ? "port" : "host") {
        using enum Network::Kind;
        const bool is_network = network_.hosts.size() > 1 || network_.cores == 1;
        if (is_network && network_.kind == levels)
            draw_levels();
        else if (is_network && network_.kind == groups)
            draw_groups();
        else if (is_network)
            draw_grid();
        if (network_.cores > 1)
            draw_host();
    }

    std::string text() {
        report::Svg svg(platform_.name, counted(std::ssize(network_.hosts), "host"), page);
        svg.style("path", "fill:none");
        svg.style(".many path", "stroke-width:0.5;opacity:0.5");
        svg.style(".label", "paint-order:stroke;stroke-width:3px");
        svg.colour(".mark", "stroke", {"#3c4650", "#b4bec8"});
        svg.colour(".mark", "fill", {"#3c4650", "#b4bec8"});
        svg.colour(".open", "fill", {"#ffffff", "#15181d"});
        svg.colour(".label", "stroke", {"#ffffff", "#15181d"});
        add_legend(svg);
        for (const Panel& panel : panels_)
            add_panel(svg, panel);
        for (const std::string& note : notes_)
            svg.note(note + ".");
        return svg.finish();
    }

  private:
    int extent(std::size_t i) const {
        return i < network_.extents.size() ? network_.extents[i] : 1;
    }
    Bundle cable(int link, std::string what) const {
        const bool striped = network_.ports.choice == simulate::Ports::Choice::striped;
        const int stripes = striped && link < network_.first_inside ? network_.ports.count : 1;
        const auto i = static_cast<std::size_t>(link);
        return {1, network_.links[i].bytes_per_second / stripes, std::move(what)};
    }

    /// Adds a panel with the cables of the network between its marks.
    void add(Panel panel) {
        for (int i = 0; i < network_.first_inside; ++i) {
            const auto [from, to] = network_.links[static_cast<std::size_t>(i)].ends;
            if (from >= 0 && from == to)
                notes_.insert(cable(i, "Hosts are drawn as routers, joined to them by").text());
            const int a = panel.mark_of(from), b = panel.mark_of(to);
            if (a < 0 || a >= b) // the links from b to a are the other direction
                continue;
            const Mark &low = panel.at(a), &high = panel.at(b);
            std::string what = low.what != high.what     ? low.what + " to " + high.what
                               : low.what != "router"    ? "between " + low.what + "s"
                               : low.group == high.group ? "within a group"
                                                         : "between groups";
            Bundle& bundle = panel.bundles[{a, b}];
            const int before = std::exchange(bundle, cable(i, std::move(what))).cables;
            bundle.cables += before;
        }
        panels_.push_back(std::move(panel));
    }

    void draw_levels() {
        Panel panel;
        int first = 0;
        for (std::size_t level = 0; level < network_.extents.size(); ++level) {
            const int count = extent(level);
            const std::string what = level == 0 ? host_ : fmt::format("level-{} switch", level);
            panel.title += (level == 0 ? "" : ", ") + counted(count, what);
            panel.add({what, first, count, per_mark(count, level == 0 ? extent(1) : count),
                       level == 0 && count <= most_in_row});
            first += count;
        }
        add(std::move(panel));
    }

    void draw_groups() {
        const int groups = extent(0), routers = groups * extent(1), hosts = routers * extent(2);
        const bool whole = routers <= most_in_row;
        const std::string each =
            counted(extent(1), "router") + " with " + counted(extent(2), host_) + " each";
        if (!whole) {
            const int merged = per_mark(groups, groups), marks = groups / merged;
            Panel panel{counted(groups, "group")};
            panel.add({"group", 0, hosts, hosts / marks, merged == 1});
            panel.rows.push_back({"group", hosts, routers, routers / marks});
            add(std::move(panel));
        }
        Panel panel{whole ? counted(groups, "group") + " of " + each
                          : "Group 0, like all others: " + each};
        const int drawn = whole ? groups : 1, marks = drawn * extent(1);
        const int below = marks * extent(2);
        panel.add({host_, 0, below, per_mark(below, marks), below <= most_in_row, drawn});
        panel.add({"router", hosts, marks, per_mark(marks, marks), false, drawn});
        add(std::move(panel));
    }

    void draw_grid() {
        const std::string plane = fmt::format("{} x {} hosts", extent(0), extent(1));
        const bool planes = network_.extents.size() > 2;
        if (planes)
            draw_plane(counted(extent(2) * extent(3), "plane") + " of " + plane, 2, "plane");
        draw_plane(planes ? "Plane 0: " + plane : plane, 0, "host");
    }

    /// Draws the grid of dimensions d and d + 1. Lower dimensions are merged; of the higher ones,
    /// the vertices with coordinates 0 are drawn.
    void draw_plane(std::string title, std::size_t d, const std::string& what) {
        const int columns = std::min(extent(d), most_in_grid);
        const int rows = std::min(extent(d + 1), most_in_grid);
        const int each = d == 0 ? 1 : extent(0) * extent(1);
        constexpr double step = 45;
        Panel panel{std::move(title), std::min(step, (page - 2 * margin) / columns), step, 0.15};
        for (int row = 0; row < rows; ++row)
            panel.add({what, row * extent(d) * each, columns * each, each, true});
        const int all = static_cast<int>(network_.hosts.size()) / each;
        if (columns * rows < all)
            notes_.insert(fmt::format("Drawn: {} of {}", columns * rows, counted(all, what)));
        add(std::move(panel));
    }

    /// Draws the ranks of a host, and what joins them: a switch, or the link of each socket.
    void draw_host() {
        const int cores = network_.cores, sockets = network_.sockets, first = network_.first_inside;
        const bool crossbar = network_.inside == Network::Inside::crossbar;
        Panel panel{"A host of " + counted(cores, "rank") + " and " +
                    counted(network_.ports.count, "port")};
        panel.add({"rank", 0, cores, per_mark(cores, cores), true});
        panel.add({crossbar ? "switch" : "shared link", cores, sockets});
        for (int core = 0; core < cores; ++core) {
            const int socket = simulate::part_of(core, cores, sockets);
            panel.bundles[{panel.mark_of(core), panel.mark_of(cores + socket)}] = cable(
                first + socket * (sockets + 1), crossbar ? "rank to switch" : "shared by ranks");
        }
        for (int a = 0; a < sockets; ++a) {
            for (int b = a + 1; b < sockets; ++b)
                panel.bundles[{panel.mark_of(cores + a), panel.mark_of(cores + b)}] =
                    cable(first + a * sockets + b, "between sockets");
        }
        panels_.push_back(std::move(panel));
    }

    static std::string circle(const std::string& what, double x, double y, double radius) {
        const bool open = what == "host" || what == "rank" || what == "port";
        return fmt::format("<circle class=\"mark{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>\n",
                           open ? " open" : "", x, y, radius);
    }

    void add_legend(report::Svg& svg) {
        std::map<std::string, report::LegendEntry> kinds;
        std::map<std::string, double> speeds;
        double least = 1e18;
        for (const Panel& panel : panels_) {
            for (const auto& [ends, bundle] : panel.bundles) {
                const double speed = bundle.cables * bundle.bytes_per_second;
                speeds[bundle.text()] = speed;
                least = std::min(least, speed);
            }
            for (const MarkRow& row : panel.rows) {
                kinds[row.what] = {circle(row.what, 9, 6, 5), row.what};
                if (row.merged > 1 && row.what != "group" && row.what != "plane")
                    notes_.insert("A mark stands for " + counted(row.merged, row.what));
            }
        }
        std::vector<report::LegendEntry> legend;
        for (const auto& [what, entry] : kinds)
            legend.push_back(entry);
        const auto colours = report::ordered_colours(static_cast<int>(speeds.size()));
        for (const auto& [text, speed] : speeds) {
            const std::string style = fmt::format("b{}", styles_.size());
            const double width = std::min(1 + 0.6 * std::log2(speed / least), 5.);
            svg.colour("." + style, "stroke", colours[styles_.size()]);
            svg.style("." + style, fmt::format("stroke-width:{:.1f}", width));
            legend.push_back({fmt::format("<path class=\"{}\" d=\"M0 6h18\"/>", style), text});
            styles_[text] = style;
        }
        svg.legend(legend);
    }

    void add_panel(report::Svg& svg, const Panel& panel) const {
        double top = panel.marks.back().y;
        std::string lines;
        for (const auto& [ends, bundle] : panel.bundles) {
            const Mark &a = panel.at(ends.first), &b = panel.at(ends.second);
            // Arcs avoid the marks between their ends.
            const bool along = a.row == b.row && b.column - a.column > 1,
                       across = b.row - a.row > 1;
            const double x = (a.x + b.x) / 2 + (across ? panel.bulge * (a.y - b.y) : 0);
            const double y = (a.y + b.y) / 2 - (along ? panel.bulge * (b.x - a.x) : 0);
            top = std::min(top, (a.y + 2 * y + b.y) / 4);
            lines += fmt::format(
                "<path class=\"{}\" d=\"M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}\"/>\n",
                styles_.at(bundle.text()), a.x, a.y, x, y, b.x, b.y);
        }
        svg.text(margin, svg.bottom() + 20, "value", panel.title);
        svg.skip(40 - top);
        svg.add(fmt::format("<g transform=\"translate(0 {:.1f})\">\n<g{}>\n{}</g>\n", svg.bottom(),
                            panel.bundles.size() > 600 ? " class=\"many\"" : "", lines));
        for (const Mark& each : panel.marks) {
            svg.add(circle(each.what, each.x, each.y, each.radius));
            if (!each.label.empty())
                svg.text(each.x, each.y + 20, "label middle quiet", each.label);
        }
        svg.add("</g>\n");
        svg.skip(40);
    }

    const simulate::Platform& platform_;
    const Network& network_ = platform_.network;
    const std::string host_; ///< the name of a host of the network's shape
    std::vector<Panel> panels_;
    std::map<std::string, std::string> styles_; ///< by the texts of bundles
    std::set<std::string> notes_;
};

} // namespace

std::string draw_platform(const simulate::Platform& platform) {
    return Drawing(platform).text();
}

} // namespace sextant::command

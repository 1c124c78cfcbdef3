// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/schedules/platform_drawing.hpp"

#include "sextant/report/svg.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace sextant::command {

namespace {

using report::counted;
using simulate::Network;
using Point = std::complex<double>;

constexpr double page = 1000, half = page / 2;
constexpr int most_in_row = 150, most_in_ring = 108, most_in_grid = 32;

/// A vertex of the network, or a group of them; without a kind, a label.
struct Vertex {
    std::string what; ///< its kind
    Point at;
    double radius = 0;
    std::string label = {};
    Point label_at = {};
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

/// A part of the drawing.
struct Panel {
    std::string title;
    double width = half, height = half;
    std::vector<Vertex> vertices = {};
    std::map<std::pair<int, int>, Bundle> bundles = {};
    /// The control point of the curve between vertices i and j; null for straight lines.
    std::function<Point(int i, Point at_i, int j, Point at_j)> bend = nullptr;

    Point middle() const { return {width / 2, height / 2}; }
    /// Adds a vertex whose neighbours are `spacing` away, with its label below it.
    void add(const std::string& what, Point at, double spacing, int number) {
        const std::string label = spacing > 30 ? fmt::format("{}", number) : "";
        vertices.push_back({what, at, std::min(6., spacing * 0.4), label, at + Point(0, 20)});
    }
    /// Adds vertices on a circle, with a gap after each group of them, and labels outside.
    void circle(const std::string& what, int count, double radius, const char* label = nullptr,
                int group = 1, double gap = 0) {
        const double step = 2 * std::numbers::pi / (count + count / group * gap);
        for (int i = 0; i < count; ++i) {
            const double angle = (i + 0.5 + (i / group + 0.5) * gap) * step;
            const Point way = std::polar(1., angle - std::numbers::pi / 2);
            const bool shown = label && radius * step > 15;
            const std::string text = shown ? fmt::format("{}{}", label, i) : "";
            const double side = way.real() * report::width_of_text(text) / 3;
            vertices.push_back({what, middle() + radius * way, std::min(6., radius * step * 0.4),
                                text, middle() + (radius + 16) * way + Point(side, 4)});
        }
    }
};

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

    std::string text() const {
        const std::string hosts = counted(std::ssize(network_.hosts), "host");
        const bool half_page = panels_.size() == 1 && panels_[0].width < page;
        report::Svg svg(platform_.name, hosts, half_page ? half : page);
        svg.style("path", "fill:none");
        svg.style(".many path", "stroke-width:0.5;opacity:0.5");
        svg.style(".label", "paint-order:stroke;stroke-width:3px");
        svg.colour(".mark", "stroke", {"#3c4650", "#b4bec8"});
        svg.colour(".mark", "fill", {"#3c4650", "#b4bec8"});
        svg.colour(".open", "fill", {"#ffffff", "#15181d"});
        svg.colour(".label", "stroke", {"#ffffff", "#15181d"});
        const std::map<std::string, int> styles = add_legend(svg);
        double x = 0, height = 0;
        for (const Panel& panel : panels_) {
            if (x + panel.width > page)
                svg.skip(std::exchange(height, 0)), x = 0;
            svg.add(fmt::format("<g transform=\"translate({} {:.1f})\">\n", x, svg.bottom() + 30));
            add_panel(svg, panel, styles);
            svg.add("</g>\n");
            x += panel.width;
            height = std::max(height, panel.height + 30);
        }
        svg.skip(height);
        for (const std::string& note : notes_)
            svg.note(note + ".");
        return svg.finish();
    }

  private:
    int extent(std::size_t i) const {
        return i < network_.extents.size() ? network_.extents[i] : 1;
    }
    int limit(int most, int all, std::string_view what) {
        if (most < all)
            notes_.insert(fmt::format("Drawn: {} of {}", most, counted(all, what)));
        return std::min(most, all);
    }
    Bundle cable(int link, std::string what) const {
        const bool striped = network_.ports.choice == simulate::Ports::Choice::striped;
        const int stripes = striped && link < network_.first_inside ? network_.ports.count : 1;
        const auto i = static_cast<std::size_t>(link);
        return {1, network_.links[i].bytes_per_second / stripes, std::move(what)};
    }

    /// Adds a panel with the cables between vertices of the network for which `drawn` returns a
    /// vertex of the panel, not -1.
    void add(Panel panel, const std::function<int(int vertex)>& drawn) {
        const int routers = extent(1), hosts = extent(0) * routers * extent(2); // of a dragonfly
        for (int i = 0; i < network_.first_inside; ++i) {
            const auto [from, to] = network_.links[static_cast<std::size_t>(i)].ends;
            if (from >= 0 && from == to)
                notes_.insert(cable(i, "Hosts are drawn as routers, joined to them by").text());
            const int a = from < 0 ? -1 : drawn(from), b = to < 0 ? -1 : drawn(to);
            if (a < 0 || a >= b) // the links from b to a are the other direction
                continue;
            const std::string& low = panel.vertices[static_cast<std::size_t>(a)].what;
            const std::string& high = panel.vertices[static_cast<std::size_t>(b)].what;
            const bool local = (from - hosts) / routers == (to - hosts) / routers;
            std::string what = low == high ? "between " + low + "s" : low + " to " + high;
            if (low == "router")
                what = local ? "within a group" : "between groups";
            Bundle& bundle = panel.bundles[{a, b}];
            const int before = std::exchange(bundle, cable(i, std::move(what))).cables;
            bundle.cables += before;
        }
        panels_.push_back(std::move(panel));
    }

    /// Draws one row per level. In long rows, a mark stands for several vertices.
    void draw_levels() {
        Panel panel{"", page, 130. * static_cast<double>(network_.extents.size()) - 70};
        std::vector<int> first, merged; // by level: the first mark, vertices per mark
        for (std::size_t level = 0; level < network_.extents.size(); ++level) {
            const int count = extent(level);
            const int alike = level == 0 && count > most_in_row ? extent(1) : count;
            int marks = std::min(alike, most_in_row);
            while (alike % marks != 0)
                --marks;
            const std::string what = level == 0 ? host_ : fmt::format("level-{} switch", level);
            const double step = (page - 40) / marks;
            const Point begin(20 + step / 2, panel.height - 30 - 130. * static_cast<double>(level));
            const bool named = level == 0 && marks == count;
            first.push_back(static_cast<int>(panel.vertices.size()));
            merged.push_back(count / marks);
            for (int i = 0; i < marks; ++i)
                panel.add(what, begin + i * step, named ? step : std::min(step, 30.), i);
            panel.title += (level == 0 ? "" : ", ") + counted(count, what);
            if (marks < count)
                notes_.insert(fmt::format("A mark stands for {}", counted(count / marks, what)));
        }
        add(std::move(panel), [&](int v) {
            std::size_t level = 0;
            for (; v >= extent(level); ++level)
                v -= extent(level);
            return first[level] + v / merged[level];
        });
    }

    /// Draws the routers of the first groups on a circle, with their hosts around them.
    void draw_ring(std::string title, int groups) {
        const int routers = limit(most_in_row, extent(1), "router");
        const int each = limit(most_in_row, extent(2), host_);
        const int all = extent(0) * extent(1) * extent(2);
        const int shown = groups * routers, hosts = shown * each;
        const bool whole = groups > 1;
        Panel panel{std::move(title), whole ? page : half, whole ? 920 : half};
        const double radius = whole ? 315 : 150;
        panel.circle(host_, hosts, radius * 1.3, "", routers * each, whole ? each : 0);
        panel.circle("router", shown, radius, nullptr, routers, whole ? 1 : 0);
        if (whole) {
            panel.circle("", groups, radius * 1.3 + 30, "group ");
            panel.bend = [=, middle = panel.middle()](int i, Point at_i, int j, Point at_j) {
                const Point mean = (at_i + at_j) / 2. - middle, outward = mean / std::abs(mean);
                const bool local = (i - hosts) / routers == (j - hosts) / routers;
                return middle + (i < hosts ? mean
                                 : local   ? outward * (radius + 0.35 * std::abs(at_i - at_j))
                                           : mean / 3.);
            };
        }
        add(std::move(panel), [=, most = extent(2)](int v) {
            const int router = v < all ? v / most : v - all;
            if (router >= shown || (v < all && v % most >= each))
                return -1;
            return v < all ? router * each + v % most : hosts + router;
        });
    }

    void draw_groups() {
        const int groups = extent(0), routers = extent(1), hosts = groups * routers * extent(2);
        const std::string each = counted(routers, "router") + " with " + counted(extent(2), host_);
        if (groups > 1 && groups * routers <= most_in_ring)
            return draw_ring(counted(groups, "group") + " of " + each + " each", groups);
        const int shown = limit(most_in_row, groups, "group");
        Panel panel{counted(groups, "group")};
        panel.circle("group", shown, 200, "");
        add(std::move(panel), [=](int v) {
            const int at = v < hosts ? v / (hosts / groups) : (v - hosts) / routers;
            return at < shown ? at : -1;
        });
        draw_ring("Group 0, like all others: " + each + " each", 1);
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
        const int x = extent(d), columns = std::min(x, most_in_grid);
        const int rows = std::min(extent(d + 1), most_in_grid);
        const int merged = d == 0 ? 1 : extent(0) * extent(1);
        limit(columns * rows, static_cast<int>(network_.hosts.size()) / merged, what);
        Panel panel{std::move(title)};
        const double step = (half - 100) / std::max({columns - 1, rows - 1, 3});
        const Point corner = panel.middle() - step / 2 * Point(columns - 1, rows - 1);
        for (int i = 0; i < columns * rows; ++i)
            panel.add(what, corner + step * Point(i % columns, i / columns), step, i);
        panel.bend = [step](int, Point a, int, Point b) {
            const double bulge = std::abs(b - a) < 1.5 * step ? 0 : 0.6 * step; // of a ring
            return (a + b) / 2. + (b - a) / std::abs(b - a) * Point(0, -bulge);
        };
        add(std::move(panel), [=](int v) {
            const int column = v / merged % x, row = v / merged / x;
            return column < columns && row < rows ? row * columns + column : -1;
        });
    }

    /// Draws the ranks of a host, and what joins them: a switch, or the link of each socket.
    void draw_host() {
        const int cores = network_.cores, sockets = network_.sockets, first = network_.first_inside;
        const bool crossbar = network_.inside == Network::Inside::crossbar;
        const auto socket = [=](int core) { return simulate::part_of(core, cores, sockets); };
        const int shown = limit(most_in_row, cores, "rank"), hubs = socket(shown - 1) + 1;
        Panel panel{"A host of " + counted(cores, "rank") + " and " +
                    counted(network_.ports.count, "port")};
        panel.circle("rank", shown, 170, "");
        panel.circle(crossbar ? "switch" : "shared link", hubs, hubs > 1 ? 90 : 10);
        for (int i = 0; i < shown; ++i)
            panel.bundles[{i, shown + socket(i)}] = cable(
                first + socket(i) * (sockets + 1), crossbar ? "rank to switch" : "shared by ranks");
        for (int i = 0; i < hubs * hubs; ++i) {
            if (const int a = i / hubs, b = i % hubs; a < b)
                panel.bundles[{shown + a, shown + b}] =
                    cable(first + a * sockets + b, "between sockets");
        }
        panels_.push_back(std::move(panel));
    }

    static std::string mark(const std::string& what, Point at, double radius) {
        const bool open = what == "host" || what == "rank" || what == "port";
        return fmt::format("<circle class=\"mark{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>\n",
                           open ? " open" : "", at.real(), at.imag(), radius);
    }

    /// Returns the number of the style of each text of a bundle.
    std::map<std::string, int> add_legend(report::Svg& svg) const {
        std::map<std::string, double> speeds;
        std::map<std::string, report::LegendEntry> kinds;
        double least = 1e18;
        for (const Panel& panel : panels_) {
            for (const auto& [ends, bundle] : panel.bundles) {
                const double speed = bundle.cables * bundle.bytes_per_second;
                speeds[bundle.text()] = speed;
                least = std::min(least, speed);
            }
            for (const Vertex& vertex : panel.vertices)
                kinds[vertex.what] = {mark(vertex.what, {9, 6}, 5), vertex.what};
        }
        kinds.erase("");
        std::vector<report::LegendEntry> legend;
        for (const auto& [what, entry] : kinds)
            legend.push_back(entry);
        const auto colours = report::ordered_colours(static_cast<int>(speeds.size()));
        std::map<std::string, int> styles;
        for (const auto& [text, speed] : speeds) {
            const auto n = styles.size();
            const double width = std::min(1 + 0.6 * std::log2(speed / least), 5.);
            svg.colour(fmt::format(".b{}", n), "stroke", colours[n]);
            svg.style(fmt::format(".b{}", n), fmt::format("stroke-width:{:.1f}", width));
            legend.push_back({fmt::format("<path class=\"b{}\" d=\"M0 6h18\"/>", n), text});
            styles[text] = static_cast<int>(n);
        }
        svg.legend(legend);
        return styles;
    }

    static void add_panel(report::Svg& svg, const Panel& panel,
                          const std::map<std::string, int>& styles) {
        svg.text(24, 0, "value", panel.title);
        svg.add(panel.bundles.size() > 600 ? "<g class=\"many\">\n" : "<g>\n");
        for (const auto& [ends, bundle] : panel.bundles) {
            const Point a = panel.vertices[static_cast<std::size_t>(ends.first)].at;
            const Point b = panel.vertices[static_cast<std::size_t>(ends.second)].at;
            const Point c = panel.bend ? panel.bend(ends.first, a, ends.second, b) : (a + b) / 2.;
            svg.add(fmt::format(
                "<path class=\"b{}\" d=\"M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}\"/>\n",
                styles.at(bundle.text()), a.real(), a.imag(), c.real(), c.imag(), b.real(),
                b.imag()));
        }
        svg.add("</g>\n");
        for (const auto& [what, at, radius, label, label_at] : panel.vertices) {
            if (!what.empty())
                svg.add(mark(what, at, radius));
            if (!label.empty())
                svg.text(label_at.real(), label_at.imag(), "label middle quiet", label);
        }
    }

    const simulate::Platform& platform_;
    const Network& network_ = platform_.network;
    const std::string host_; ///< the name of a host of the network's shape
    std::vector<Panel> panels_;
    std::set<std::string> notes_;
};

} // namespace

std::string draw_platform(const simulate::Platform& platform) {
    return Drawing(platform).text();
}

} // namespace sextant::command

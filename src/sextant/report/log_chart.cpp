// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/charts.hpp"
#include "sextant/report/svg.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace sextant::report {

namespace {

constexpr double left = 92, right = 28, height = 360, widest = 1000, square = 560;

bool can_be_drawn(const LogChart::Point& point) {
    return std::isfinite(point.x) && std::isfinite(point.y) && point.x > 0 && point.y > 0;
}

/// A logarithmic axis: its range and length.
struct Axis {
    double low = 0, high = 0; ///< base-10 logarithms
    double length = 0;

    void hold(double value) {
        const double power = std::log10(value);
        low = std::min(low, power);
        high = std::max(high, power);
    }
    void widen() {
        const double margin = std::max(.06 * (high - low), .08);
        low -= margin;
        high += margin;
    }
    double at(double value) const { return (std::log10(value) - low) / (high - low) * length; }
    bool holds(double value) const {
        return std::log10(value) >= low - 1e-9 && std::log10(value) <= high + 1e-9;
    }
    /// Returns powers of ten; on a short axis also 2 and 5 times these powers.
    std::vector<double> ticks() const {
        std::vector<double> all;
        const bool few = high - low < 2.5;
        const int step = std::max(1, static_cast<int>((high - low) / 8));
        for (int power = static_cast<int>(std::floor(low)); power <= high; power += step) {
            for (const double factor : {1., 2., 5.}) {
                const double value = factor * std::pow(10., power);
                if ((few || factor == 1) && holds(value))
                    all.push_back(value);
            }
        }
        return all;
    }
};

class Drawing {
  public:
    explicit Drawing(const LogChart& chart)
        : chart_(chart), svg_(chart.title, chart.subtitle, left + widest + right) {
        x_.low = y_.low = 1e300;
        x_.high = y_.high = -1e300;
        for (const LogChart::Kind& kind : chart.kinds) {
            for (const LogChart::Point& point : kind.points) {
                if (!can_be_drawn(point)) {
                    ++left_out_;
                    continue;
                }
                x_.hold(point.x);
                joined_ = joined_ && kind.joined;
                places_.insert(point.x);
                y_.hold(point.y);
                ++drawn_;
            }
        }
        if (chart.compares) {
            x_.low = y_.low = std::min(x_.low, y_.low);
            x_.high = y_.high = std::max(x_.high, y_.high);
        }
        x_.widen();
        y_.widen();
        x_.length = chart.compares ? square : widest;
        y_.length = chart.compares ? square : height;
    }

    std::string finish() {
        if (drawn_ == 0)
            return "";
        styles();
        if (!chart_.figures.empty())
            svg_.figures(chart_.figures);
        legend();
        svg_.skip(16);
        svg_.text(std::max(left - 10, 24 + width_of_text(chart_.y_name)), svg_.bottom() - 4,
                  "end quiet", chart_.y_name);
        top_ = svg_.bottom();
        grid();
        if (chart_.compares)
            diagonals();
        for (std::size_t kind = 0; kind < chart_.kinds.size(); ++kind)
            draw(kind);
        svg_.skip(y_.length + 34);
        if (left_out_ > 0)
            svg_.note(
                fmt::format("{} not shown: not a positive number.", counted(left_out_, "point")));
        return svg_.finish();
    }

  private:
    double x(double value) const { return left + x_.at(value); }
    double y(double value) const { return top_ + y_.length - y_.at(value); }

    void styles() {
        svg_.colour(".tick", "stroke", {"#e1e5ea", "#2c333c"});
        svg_.colour(".equal", "stroke", {"#66707c", "#98a2ae"});
        svg_.style(".near", "stroke-dasharray:3 4;stroke-opacity:.7");
        const std::vector<Colour> colours = ordered_colours(static_cast<int>(chart_.kinds.size()));
        for (std::size_t kind = 0; kind < chart_.kinds.size(); ++kind) {
            const Colour& colour = colours[static_cast<std::size_t>(
                colour_index(static_cast<int>(kind), static_cast<int>(chart_.kinds.size())))];
            svg_.colour(fmt::format(".dot-{}", kind), "fill", colour);
            svg_.colour(fmt::format(".line-{}", kind), "stroke", colour);
            svg_.style(fmt::format(".line-{}", kind), "fill:none;stroke-width:1.6");
        }
        svg_.style("circle:hover", "stroke:currentColor;stroke-width:1.5");
    }

    void legend() {
        std::vector<LegendEntry> entries;
        for (std::size_t kind = 0; kind < chart_.kinds.size(); ++kind) {
            entries.push_back(
                {fmt::format("<circle class=\"dot-{}\" cx=\"9\" cy=\"6\" r=\"4.5\"/>", kind),
                 shortened(chart_.kinds[kind].name, 48)});
        }
        if (chart_.compares)
            entries.push_back(
                {"<path class=\"equal\" d=\"M2 11L16 1\"/>", "equal; 1.5 times more or less"});
        svg_.legend(entries);
    }

    /// Returns the ticks of the x axis. If all kinds are curves and have few different positions in
    /// total, such as numbers of ranks, these positions are the ticks.
    std::vector<double> x_ticks() const {
        constexpr std::size_t few = 8;
        if (joined_ && !chart_.compares && places_.size() <= few)
            return {places_.begin(), places_.end()};
        return x_.ticks();
    }

    void grid() {
        double free = 0;
        for (const double tick : x_ticks()) {
            svg_.line(x(tick), top_, x(tick), top_ + y_.length, "tick");
            const std::string text = chart_.x_text(tick);
            if (x(tick) - width_of_text(text) / 2 < free)
                continue;
            svg_.text(x(tick), top_ + y_.length + 15, "middle quiet", text);
            free = x(tick) + width_of_text(text) / 2 + 8;
        }
        for (const double tick : y_.ticks()) {
            svg_.line(left, y(tick), left + x_.length, y(tick), "tick");
            if (y(tick) > top_ + 8)
                svg_.text(left - 10, y(tick) + 4, "end quiet", chart_.y_text(tick));
        }
        svg_.text(left + x_.length / 2, top_ + y_.length + 31, "middle quiet", chart_.x_name);
    }

    /// Draws y = x, 1.5 x and x / 1.5. The lines stay inside because the axes are equal.
    void diagonals() {
        for (const double factor : {1., 1.5, 1 / 1.5}) {
            const double shift = std::log10(factor);
            const double from = std::pow(10., x_.low + std::max(0., -shift));
            const double to = std::pow(10., x_.high - std::max(0., shift));
            if (from < to)
                svg_.line(x(from), y(from * factor), x(to), y(to * factor),
                          factor == 1 ? "equal" : "equal near");
        }
    }

    void draw(std::size_t kind) {
        std::vector<LogChart::Point> points = chart_.kinds[kind].points;
        std::erase_if(points, [](const LogChart::Point& point) { return !can_be_drawn(point); });
        if (chart_.kinds[kind].joined && points.size() > 1) {
            std::stable_sort(
                points.begin(), points.end(),
                [](const LogChart::Point& a, const LogChart::Point& b) { return a.x < b.x; });
            std::string path;
            for (const LogChart::Point& point : points)
                path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x(point.x),
                                    y(point.y));
            svg_.add(fmt::format("<path class=\"line-{}\" d=\"{}\"/>\n", kind, path));
        }
        for (const LogChart::Point& point : points) {
            svg_.add(fmt::format("<circle class=\"dot-{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\">"
                                 "<title>{}</title></circle>\n",
                                 kind, x(point.x), y(point.y), escape(point.title)));
        }
    }

    const LogChart& chart_;
    Axis x_, y_;
    double top_ = 0;
    std::int64_t drawn_ = 0, left_out_ = 0;
    bool joined_ = true;      // true if all drawn kinds are curves
    std::set<double> places_; // positions on the x axis
    Svg svg_;
};

} // namespace

std::string log_chart(const LogChart& chart) {
    return Drawing(chart).finish();
}

} // namespace sextant::report

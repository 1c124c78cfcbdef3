// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/alternatives_section.hpp"

#include "sextant/report/charts.hpp"
#include "sextant/report/svg.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace sextant::report {

namespace {

constexpr double width = 1112, right = 150, margin = 34;
constexpr std::size_t longest_name = 64;
constexpr std::size_t most_drawn = 24;

std::string median_of(const std::optional<TimeRange>& range) {
    return range ? to_text(range->seconds) : "";
}

std::string range_of(const std::optional<TimeRange>& range) {
    if (!range || range->low == range->high)
        return "";
    return fmt::format("{} to {}", to_text(range->low), to_text(range->high));
}

bool known(const Alternative& configuration) {
    return configuration.predicted || configuration.measured || configuration.bound;
}

/// Draws the interval of each alternative as a line.
class Intervals {
  public:
    explicit Intervals(const Alternatives& alternatives)
        : alternatives_(alternatives), svg_("Time of each configuration", alternatives.by, width) {
        for (const Alternative& each : alternatives.all) {
            if (drawn_.size() < most_drawn && known(each))
                drawn_.push_back(&each);
        }
        lanes_.count = static_cast<int>(drawn_.size());
        lanes_.height = 22;
        for (const Alternative* each : drawn_)
            lanes_.begin =
                std::max(lanes_.begin, width_of_text(shortened(each->name, longest_name)) + margin);
        longest_ = longest() * 1.02;
    }

    std::string finish() {
        styles();
        legend();
        lanes_.place(svg_);
        add_time_axis(svg_, lanes_, longest_, plot());
        for (int lane = 0; lane < lanes_.count; ++lane)
            draw(lane, *drawn_[static_cast<std::size_t>(lane)]);
        if (beyond_)
            svg_.note("Times at the right edge exceed the scale.");
        const std::size_t rest = alternatives_.all.size() - drawn_.size();
        if (rest > 0)
            svg_.note(fmt::format("The table shows {} more configurations.", rest));
        return svg_.finish();
    }

  private:
    /// Returns the end of the time axis. Measured times far above the prediction and intervals far
    /// above their median are cut off, because all other intervals would become too short.
    Seconds longest() const {
        Seconds predicted = 0, measured = 0, high = 0;
        for (const Alternative* each : drawn_) {
            predicted = std::max(predicted, each->bound.value_or(0));
            if (each->predicted)
                predicted = std::max(predicted, each->predicted->seconds);
            if (each->measured)
                measured = std::max(measured, each->measured->seconds);
            for (const auto* range : {&each->predicted, &each->measured}) {
                if (*range)
                    high = std::max(high, (*range)->high);
            }
        }
        const Seconds all =
            predicted == 0 || measured <= 3 * predicted ? std::max(predicted, measured) : predicted;
        return std::max(all, std::min(high, 1.5 * all));
    }

    double plot() const { return width - right - lanes_.begin; }
    double x(Seconds time) const { return lanes_.begin + std::min(time / longest_, 1.0) * plot(); }

    void styles() {
        Lanes::add_styles(svg_);
        add_time_axis_styles(svg_);
        const Colour predicted = colour_of_hue(255), measured = colour_of_hue(50);
        svg_.colour(".predicted", "stroke", predicted);
        svg_.colour(".measured", "stroke", measured);
        svg_.style(".range", "stroke-width:6;stroke-opacity:.35");
        svg_.colour(".predicted-median", "fill", predicted);
        svg_.colour(".measured-median", "fill", measured);
        svg_.colour(".bound", "stroke", {"#66707c", "#98a2ae"});
        svg_.style(".bound", "stroke-width:1.5");
        svg_.style(".chosen", "font-weight:600");
    }

    static std::string dot(std::string_view kind, double at, double y) {
        return fmt::format("<circle class=\"{}-median\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"/>",
                           kind, at, y);
    }

    void legend() {
        std::vector<LegendEntry> entries;
        const auto add = [&](std::string_view kind, auto has) {
            if (std::any_of(drawn_.begin(), drawn_.end(), has)) {
                entries.push_back({fmt::format("<path class=\"{} range\" d=\"M0 6h18\"/>{}", kind,
                                               dot(kind, 9, 6)),
                                   std::string(kind)});
            }
        };
        add("predicted", [](const Alternative* each) { return each->predicted.has_value(); });
        add("measured", [](const Alternative* each) { return each->measured.has_value(); });
        if (std::any_of(drawn_.begin(), drawn_.end(),
                        [](const Alternative* each) { return each->bound.has_value(); })) {
            entries.push_back(
                {"<path class=\"bound\" d=\"M9 0v12\"/>", "lower bound of the predicted time"});
        }
        svg_.legend(entries);
    }

    void draw(std::string_view kind, const TimeRange& range, double y) {
        if (range.low < range.high) {
            svg_.line(x(range.low), y, x(range.high), y, fmt::format("{} range", kind));
        }
        svg_.add(dot(kind, x(range.seconds), y) + "\n");
        beyond_ = beyond_ || range.seconds > longest_;
    }

    void draw(int lane, const Alternative& configuration) {
        const double middle = lanes_.middle(lane);
        const double apart = configuration.predicted && configuration.measured ? 4 : 0;
        const std::string_view looks = lane == 0 ? "chosen" : "quiet";
        svg_.text(lanes_.begin - 10, middle + 4, fmt::format("end {}", looks),
                  shortened(configuration.name, longest_name));
        if (configuration.bound)
            svg_.line(x(*configuration.bound), middle - 5, x(*configuration.bound), middle + 5,
                      "bound");
        if (configuration.predicted)
            draw("predicted", *configuration.predicted, middle - apart);
        if (configuration.measured)
            draw("measured", *configuration.measured, middle + apart);
        svg_.text(width - right + 10, middle + 4, looks, in_words(configuration));
    }

    /// Returns the predicted time, then the measured time, as text.
    static std::string in_words(const Alternative& configuration) {
        if (!configuration.predicted && !configuration.measured)
            return "not predicted";
        const std::string between = configuration.predicted && configuration.measured ? ", " : "";
        return median_of(configuration.predicted) + between + median_of(configuration.measured);
    }

    const Alternatives& alternatives_;
    std::vector<const Alternative*> drawn_;
    Lanes lanes_;
    Seconds longest_ = 0;
    bool beyond_ = false;
    Svg svg_;
};

std::string table(const Alternatives& alternatives) {
    Table table{{{"Configuration", ""},
                 "Predicted",
                 "Interval",
                 "Measured",
                 "Interval",
                 "Lower bound",
                 {"Remark", ""}}};
    for (const Alternative& each : alternatives.all)
        table.rows.push_back({escape(each.name), median_of(each.predicted),
                              range_of(each.predicted), median_of(each.measured),
                              range_of(each.measured), each.bound ? to_text(*each.bound) : "",
                              escape(each.remark)});
    return folded(fmt::format("All {} as a table", alternatives.all.size()), table);
}

} // namespace

void sort_by_time(Alternatives& alternatives) {
    const auto time = [](const Alternative& configuration) {
        return configuration.measured    ? configuration.measured->seconds
               : configuration.predicted ? configuration.predicted->seconds
                                         : std::numeric_limits<double>::infinity();
    };
    std::stable_sort(alternatives.all.begin(), alternatives.all.end(),
                     [&](const Alternative& a, const Alternative& b) { return time(a) < time(b); });
}

Section alternatives_section(const Alternatives& alternatives) {
    if (std::none_of(alternatives.all.begin(), alternatives.all.end(), known))
        return {};
    return {alternatives.title,
            to_html(Figure{Intervals(alternatives).finish(), ""}) + table(alternatives)};
}

} // namespace sextant::report

// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/alternatives_section.hpp"

#include "sextant/report/lanes.hpp"
#include "sextant/report/svg.hpp"
#include "sextant/report/text.hpp"
#include "sextant/report/time_axis.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sextant::report {

namespace {

constexpr double left = 260, plot = 720, right = 110;
constexpr std::size_t most_drawn = 20;

std::string text_of(const std::optional<Seconds>& seconds) {
    return seconds ? to_text(*seconds) : "";
}

/// Draws what was predicted: a line a way, from low to high.
class Intervals {
  public:
    explicit Intervals(const Alternatives& alternatives)
        : alternatives_(alternatives),
          svg_("What each way was predicted to take", alternatives.by, left + plot + right) {
        for (const Alternative& each : alternatives.all) {
            if (drawn_.size() < most_drawn && (each.seconds || each.bound))
                drawn_.push_back(&each);
        }
        lanes_.count = static_cast<int>(drawn_.size());
        lanes_.height = 22;
        lanes_.begin = left;
        for (const Alternative* each : drawn_)
            longest_ = std::max({longest_, each->seconds.value_or(0), each->bound.value_or(0)});
        for (const Alternative* each : drawn_) // an interval may be much longer than all medians
            longest_ = std::max(longest_, std::min(each->high.value_or(0), 1.5 * longest_));
        if (measured_fits())
            longest_ = std::max(longest_, *alternatives.measured);
        longest_ *= 1.02;
    }

    std::string finish() {
        styles();
        legend();
        lanes_.place(svg_);
        add_time_axis(svg_, lanes_, longest_, plot);
        for (int lane = 0; lane < lanes_.count; ++lane)
            draw(lane, *drawn_[static_cast<std::size_t>(lane)]);
        if (alternatives_.measured)
            svg_.line(x(*alternatives_.measured), lanes_.top, x(*alternatives_.measured),
                      lanes_.bottom(), "measured");
        const std::size_t rest = alternatives_.all.size() - drawn_.size();
        if (rest > 0)
            svg_.note(fmt::format("{} more in the table.", rest));
        return svg_.finish();
    }

  private:
    /// What took many times what was predicted would leave no room to tell predictions apart.
    bool measured_fits() const {
        return alternatives_.measured && *alternatives_.measured <= 3 * longest_;
    }

    double x(Seconds time) const { return left + std::min(time / longest_, 1.0) * plot; }

    void styles() {
        Lanes::add_styles(svg_);
        add_time_axis_styles(svg_);
        svg_.colour(".interval", "stroke", colour_of_hue(255));
        svg_.style(".interval", "stroke-width:7;stroke-opacity:.3");
        svg_.colour(".median", "fill", colour_of_hue(255));
        svg_.colour(".bound", "stroke", {"#66707c", "#98a2ae"});
        svg_.style(".bound", "stroke-width:1.5");
        svg_.colour(".measured", "stroke", colour_of_hue(50));
        svg_.style(".measured", "stroke-width:2");
        svg_.style(".chosen", "font-weight:600");
    }

    void legend() {
        std::vector<LegendEntry> entries = {
            {"<path class=\"interval\" d=\"M0 6h18\"/><circle class=\"median\" cx=\"9\" cy=\"6\" "
             "r=\"3.5\"/>",
             "predicted, and its interval"},
            {"<path class=\"bound\" d=\"M9 0v12\"/>", "no run is predicted to take less"}};
        if (alternatives_.measured) {
            entries.push_back({"<path class=\"measured\" d=\"M9 0v12\"/>",
                               fmt::format("measured{}: {}{}", alternatives_.frame,
                                           to_text(*alternatives_.measured),
                                           measured_fits() ? "" : ", beyond the right edge")});
        }
        svg_.legend(entries);
    }

    void draw(int lane, const Alternative& way) {
        const double middle = lanes_.middle(lane);
        svg_.text(left - 10, middle + 4, lane == 0 ? "end chosen" : "end quiet",
                  shortened(way.name, 38));
        if (way.low && way.high)
            svg_.line(x(*way.low), middle, x(*way.high), middle, "interval");
        if (way.bound)
            svg_.line(x(*way.bound), middle - 5, x(*way.bound), middle + 5, "bound");
        if (way.seconds) {
            svg_.add(fmt::format("<circle class=\"median\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"/>"
                                 "\n",
                                 x(*way.seconds), middle));
        }
        svg_.text(left + plot + 10, middle + 4, lane == 0 ? "chosen" : "quiet",
                  way.seconds ? to_text(*way.seconds) : "not predicted");
    }

    const Alternatives& alternatives_;
    std::vector<const Alternative*> drawn_;
    Lanes lanes_;
    Seconds longest_ = 0;
    Svg svg_;
};

std::string table(const Alternatives& alternatives) {
    std::string html = fmt::format(
        "<details><summary>All {} as a table</summary>\n<div class=\"scroll\"><table>\n"
        "<thead><tr><th scope=\"col\">Way</th><th scope=\"col\" class=\"number\">Predicted</th>"
        "<th scope=\"col\" class=\"number\">Lowest</th><th scope=\"col\" class=\"number\">Highest"
        "</th><th scope=\"col\" class=\"number\">At least</th><th scope=\"col\">Remark</th></tr>"
        "</thead>\n<tbody>\n",
        alternatives.all.size());
    for (const Alternative& way : alternatives.all) {
        html += fmt::format("<tr><th scope=\"row\">{}</th>", escape(way.name));
        for (const auto* time : {&way.seconds, &way.low, &way.high, &way.bound})
            html += fmt::format("<td class=\"number\">{}</td>", text_of(*time));
        html += fmt::format("<td>{}</td></tr>\n", escape(way.remark));
    }
    return html + "</tbody>\n</table></div></details>\n";
}

} // namespace

Section alternatives_section(const Alternatives& alternatives) {
    const bool any =
        std::any_of(alternatives.all.begin(), alternatives.all.end(), [](const Alternative& way) {
            return way.seconds.has_value() || way.bound.has_value();
        });
    if (!any)
        return {};
    return {"What was weighed", to_html({Intervals(alternatives).finish(),
                                         "Every way that was weighed, the chosen first."}) +
                                    table(alternatives)};
}

} // namespace sextant::report

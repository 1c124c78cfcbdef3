// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/trace_timeline.hpp"

#include "sextant/report/charts.hpp"
#include "sextant/report/recording.hpp"
#include "sextant/report/svg.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>

namespace sextant::report {

Colour colour_of(Activity activity) {
    switch (activity) {
    case Activity::send:
        return colour_of_hue(255);
    case Activity::receive:
        return colour_of_hue(185);
    case Activity::fold:
        return colour_of_hue(50);
    case Activity::copy:
        return colour_of_hue(340);
    case Activity::compute:
        return colour_of_hue(100);
    case Activity::wait:
        break;
    }
    return {"#d2d8df", "#3a424d"};
}

SharedLanes::SharedLanes(int of) : ranks(of), ranks_per_lane(std::max(1, (of + most - 1) / most)) {
    lanes = (ranks + ranks_per_lane - 1) / ranks_per_lane;
}

std::string SharedLanes::name(int lane) const {
    const int first = lane * ranks_per_lane;
    const int last = std::min(first + ranks_per_lane, ranks) - 1;
    return first == last ? fmt::format("rank {}", first) : fmt::format("ranks {}-{}", first, last);
}

Trace SharedLanes::events_by_lane(const Trace& trace) const {
    Trace by_lane = trace;
    for (Event& event : by_lane.events)
        event.rank = event.rank < 0 ? event.rank : lane_of(event.rank);
    return by_lane;
}

namespace {

void check(const Event& event, int ranks) {
    const bool times = std::isfinite(event.begin) && std::isfinite(event.end) && event.begin >= 0 &&
                       event.end >= event.begin;
    if (event.rank >= 0 && event.rank < ranks && times)
        return;
    throw std::logic_error(fmt::format("rank {} of {}, step {}: {} from {} s to {} s", event.rank,
                                       ranks, event.step, name(event.activity), event.begin,
                                       event.end));
}

std::vector<Event> in_order(std::vector<Event> events) {
    const auto place = [](const Event& e) {
        return std::tuple(e.rank, e.begin, e.end, e.activity, e.step);
    };
    std::stable_sort(events.begin(), events.end(),
                     [&](const Event& a, const Event& b) { return place(a) < place(b); });
    return events;
}

/// Merges events of the same rank and activity if the gap between them is at most `pause`.
std::vector<Bar> merged(const std::vector<Event>& events, Seconds pause) {
    constexpr auto none = static_cast<std::size_t>(-1);
    std::vector<Bar> all;
    // Index of the last bar of each activity.
    std::array<std::size_t, static_cast<std::size_t>(Activity::wait) + 1> open;
    open.fill(none);
    for (const Event& event : events) {
        std::size_t& last = open[static_cast<std::size_t>(event.activity)];
        if (last != none && all[last].event.rank == event.rank &&
            event.begin <= all[last].event.end + pause) {
            Bar& bar = all[last];
            bar.event.end = std::max(bar.event.end, event.end);
            bar.event.elements += event.elements;
            ++bar.events;
        } else {
            last = all.size();
            all.push_back({event});
        }
    }
    return all;
}

/// Assigns each message of a kind to the first row, starting with row `first`, that is free when
/// the message begins. Returns one more than the last row of any rank.
int set_rows(std::vector<Bar>& messages, Activity kind, int first) {
    std::size_t rows = 0;
    std::vector<Seconds> free;
    int rank = -1;
    for (Bar& bar : messages) {
        if (bar.event.activity != kind)
            continue;
        if (bar.event.rank != rank)
            free.clear(), rank = bar.event.rank;
        const auto row = std::find_if(free.begin(), free.end(),
                                      [&](Seconds end) { return end <= bar.event.begin; });
        bar.row = first + static_cast<int>(row - free.begin());
        if (row == free.end())
            free.push_back(bar.event.end);
        else
            *row = bar.event.end;
        rows = std::max(rows, free.size());
    }
    return first + static_cast<int>(rows);
}

/// Merges ordered events into at most `most` bars. If `one_at_a_time`, overlapping events of the
/// same kind are always merged.
Bars bars_of(const std::vector<Event>& events, Seconds duration, std::size_t most,
             bool one_at_a_time) {
    constexpr double finest = 1000; // number of bars side by side that can be distinguished
    Bars bars;
    bars.duration = duration;
    std::vector<Bar> all;
    if (one_at_a_time) {
        all = merged(events, 0);
    } else {
        for (const Event& event : events)
            all.push_back({event});
    }
    for (Seconds pause = duration / finest; all.size() > most; pause *= 2) {
        all = merged(events, bars.pause = pause);
        if (pause >= duration)
            break;
    }
    for (const Bar& bar : all)
        (is_message(bar.event.activity) ? bars.messages : bars.work).push_back(bar);
    bars.rows = set_rows(bars.messages, Activity::send, 0);
    bars.rows = std::max(set_rows(bars.messages, Activity::receive, bars.rows), 1);
    return bars;
}

/// Returns the time from the start of the run to the end of the last event.
Seconds checked_duration(const Trace& trace, int ranks) {
    Seconds duration = std::isfinite(trace.duration) ? std::max(trace.duration, 0.0) : 0.0;
    for (const Event& event : trace.events) {
        check(event, ranks);
        duration = std::max(duration, event.end);
    }
    return duration;
}

} // namespace

Bars bars(const Trace& trace, int ranks, std::size_t most) {
    const Seconds duration = checked_duration(trace, ranks);
    return bars_of(in_order(trace.events), duration, most, false);
}

Bars bars(const Trace& trace, const SharedLanes& lanes, std::size_t most) {
    if (!lanes.shared())
        return bars(trace, lanes.ranks, most);
    const Seconds duration = checked_duration(trace, lanes.ranks);
    return bars_of(in_order(lanes.events_by_lane(trace).events), duration, most, true);
}

namespace {

constexpr double right = 28, plot = 1000;

/// Positions of lanes and times.
struct Layout {
    Layout(const Bars& bars, int ranks) {
        const int count = SharedLanes(ranks).lanes;
        const double most = count <= 8 ? 40 : count <= 16 ? 30 : count <= 64 ? 14 : 6;
        work = count <= 16 ? 12 : count <= 64 ? 7 : 4;
        gap = count <= 16 ? 12 : count <= 64 ? 6 : 3;
        row = std::min(most / bars.rows, 8.0);
        messages = row * bars.rows;
        lanes = {count, messages + work + gap};
        scale = bars.duration > 0 ? plot / bars.duration : 0;
    }
    double x(Seconds time) const { return Lanes::left + time * scale; }
    /// Returns the position of the line between a rank's messages and its work.
    double y(int rank) const { return lanes.y(rank) + gap / 2 + messages; }

    Lanes lanes;
    double row, messages, work, gap; ///< heights
    double scale;
};

class Chart {
  public:
    Chart(const Trace& trace, int ranks, const TimelineOptions& options)
        : ranks_(ranks),
          shared_(ranks),
          events_(static_cast<std::int64_t>(trace.events.size())),
          bars_(bars(trace, shared_, static_cast<std::size_t>(std::max(options.most_drawn, 0)))),
          layout_(bars_, ranks),
          svg_(options.title, options.subtitle, Lanes::left + plot + right) {
        for (const Event& event : trace.events) {
            const auto i = static_cast<std::size_t>(event.activity);
            ++count_[i];
            spent_[i] += event.end - event.begin;
        }
    }

    std::string finish() {
        styles();
        svg_.figures({{to_text(bars_.duration), "in total"},
                      key_figure(ranks_, "rank"),
                      key_figure(events_, "event")});
        legend();
        layout_.lanes.place(svg_);
        lanes();
        add_time_axis(svg_, layout_.lanes, bars_.duration, plot);
        for (const Bar& bar : bars_.messages) {
            const double y = layout_.y(bar.event.rank) - 1 - (bar.row + 1) * layout_.row;
            draw(bar, y, layout_.row * 0.86);
        }
        for (const Bar& bar : bars_.work)
            draw(bar, layout_.y(bar.event.rank) + 1, layout_.work);
        notes();
        return svg_.finish();
    }

  private:
    void styles() {
        Lanes::add_styles(svg_);
        add_time_axis_styles(svg_);
        for (const Activity activity : activities)
            svg_.colour(fmt::format(".{}", name(activity)), "fill", colour_of(activity));
        svg_.style(".event:hover", "opacity:.65");
    }

    /// For messages, the legend shows their number, because messages overlap. For work, it shows
    /// the fraction of time, because a rank does one piece of work at a time.
    void legend() {
        const double whole = bars_.duration * ranks_;
        std::vector<LegendEntry> entries;
        for (Activity activity : activities) {
            const auto i = static_cast<std::size_t>(activity);
            if (count_[i] == 0)
                continue;
            std::string label(name(activity));
            if (is_message(activity))
                label += fmt::format(" {}", grouped(count_[i]));
            else if (whole > 0)
                label += fmt::format(" {:.1f} %", 100 * spent_[i] / whole);
            entries.push_back({swatch(name(activity)), label});
        }
        if (!entries.empty())
            svg_.legend(entries);
    }

    void lanes() {
        const Lanes& lanes = layout_.lanes;
        for (int rank = 0; rank < lanes.count; ++rank) {
            const double y = layout_.y(rank);
            if (rank % 2 == 0)
                svg_.rectangle(Lanes::left, lanes.y(rank), plot, lanes.height, "band");
            svg_.line(Lanes::left, y, Lanes::left + plot, y, "lane");
        }
        lanes.add_names(svg_, [this](int lane) { return shared_.name(lane); });
    }

    std::string title_of(const Bar& bar) const {
        const Event& event = bar.event;
        std::string text = shared_.name(event.rank);
        if (bar.events > 1) {
            text += fmt::format(": {}", counted(bar.events, name(event.activity)));
        } else {
            if (event.step >= 0)
                text += fmt::format(", step {}", event.step);
            text += fmt::format(": {}", name(event.activity));
            if (event.activity == Activity::send)
                text += fmt::format(" to rank {}", event.peer);
            if (event.activity == Activity::receive)
                text += fmt::format(" from rank {}", event.peer);
            if (event.activity != Activity::wait)
                text += fmt::format(", round {}", event.round);
        }
        if (event.activity != Activity::wait)
            text += fmt::format(", {}", counted(event.elements, "element"));
        return text + fmt::format("\n{} from {} to {}", to_text(event.end - event.begin),
                                  to_text(event.begin), to_text(event.end));
    }

    void draw(const Bar& bar, double y, double height) {
        const double x = layout_.x(bar.event.begin);
        const double width = std::max(layout_.x(bar.event.end) - x, 0.5);
        svg_.add(fmt::format("<rect class=\"event {}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" "
                             "height=\"{:.2f}\" rx=\"{:.1f}\"><title>{}</title></rect>\n",
                             name(bar.event.activity), x, y, width, height,
                             std::min({1.5, width / 4, height / 4}), escape(title_of(bar))));
    }

    void notes() {
        svg_.note(events_ == 0
                      ? "No events were recorded."
                      : "Above each line: messages in transit. Below: work, and idle waiting.");
        if (bars_.pause > 0) {
            const auto drawn = static_cast<std::int64_t>(bars_.messages.size() + bars_.work.size());
            svg_.note(fmt::format("Aggregated: {} in {}. Not shown: pauses of up to {} between "
                                  "events of the same kind.",
                                  counted(events_, "event"), counted(drawn, "bar"),
                                  to_text(bars_.pause)));
        }
        if (shared_.shared())
            svg_.note(fmt::format("{} ranks share a lane; simultaneous events are one bar.",
                                  shared_.ranks_per_lane));
    }

    const int ranks_;
    const SharedLanes shared_;
    const std::int64_t events_;
    const Bars bars_;
    Layout layout_;
    std::array<std::int64_t, std::size(activities)> count_{};
    std::array<Seconds, std::size(activities)> spent_{};
    Svg svg_;
};

} // namespace

std::string timeline(const Trace& trace, int ranks, const TimelineOptions& options) {
    return Chart(trace, ranks, options).finish();
}

} // namespace sextant::report

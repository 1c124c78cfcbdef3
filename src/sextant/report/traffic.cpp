// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/charts.hpp"
#include "sextant/report/recording.hpp"
#include "sextant/report/run_comparison.hpp"
#include "sextant/report/svg.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

namespace sextant::report {

namespace {

constexpr int most_fields = 64; // maximum number of cells in a row of the matrix
constexpr int shades = 12;
constexpr double left = 76, side = 520, width = 1112;

std::string rate_to_text(double per_second, Bytes element_size) {
    return element_size > 0
               ? bytes_to_text(per_second) + "/s"
               : fmt::format("{} el/s", grouped(static_cast<std::int64_t>(per_second)));
}

std::string described(const PairBandwidth& pair, Bytes element_size, int merged) {
    const std::string who = merged == 1
                                ? fmt::format("rank {} to rank {}", pair.from, pair.to)
                                : fmt::format("ranks starting at {} to ranks starting at {}",
                                              pair.from * merged, pair.to * merged);
    return fmt::format("{}: {} in {}", who, rate_to_text(pair.per_second(), element_size),
                       counted(pair.messages, "message"));
}

/// Merges groups of `merged` neighbouring ranks into one row and one column.
std::vector<PairBandwidth> merged_pairs(const std::vector<PairBandwidth>& pairs, int merged) {
    std::map<std::pair<int, int>, PairBandwidth> fields;
    for (const PairBandwidth& pair : pairs) {
        PairBandwidth& field = fields[{pair.from / merged, pair.to / merged}];
        field.from = pair.from / merged;
        field.to = pair.to / merged;
        field.messages += pair.messages;
        field.bytes += pair.bytes;
        field.seconds += pair.seconds;
    }
    std::vector<PairBandwidth> all;
    for (const auto& [place, field] : fields)
        all.push_back(field);
    return all;
}

double fastest(const std::vector<PairBandwidth>& pairs) {
    double most = 0;
    for (const PairBandwidth& pair : pairs)
        most = std::max(most, pair.per_second());
    return most;
}

/// Draws a matrix with one row per sender and one column per receiver.
class Matrix {
  public:
    explicit Matrix(const Recording& recording)
        : element_size_(recording.element_size),
          merged_((recording.ranks + most_fields - 1) / most_fields),
          pairs_(merged_pairs(bandwidths(recording), merged_)),
          most_(fastest(pairs_)),
          fields_((recording.ranks + merged_ - 1) / merged_),
          field_(std::min(side / fields_, 40.0)),
          svg_("Bandwidth between ranks", recording.title(), width) {}

    std::string finish() {
        styles();
        legend();
        svg_.text(left, svg_.bottom() + 14, "quiet", "to rank");
        svg_.skip(34);
        top_ = svg_.bottom();
        svg_.rectangle(left, top_, fields_ * field_, fields_ * field_, "field");
        for (const PairBandwidth& pair : pairs_)
            draw(pair);
        names();
        svg_.skip(fields_ * field_ + 8);
        if (merged_ > 1)
            svg_.note(fmt::format("{} ranks share a row and a column.", merged_));
        return svg_.finish();
    }

  private:
    void styles() {
        svg_.colour(".field", "fill", {"#f4f6f8", "#1c2027"});
        const Colour colour = colour_of_hue(255);
        svg_.colour(".pair", "fill", colour);
        for (int shade = 1; shade <= shades; ++shade)
            svg_.style(fmt::format(".s{}", shade),
                       fmt::format("fill-opacity:{:.2f}", 0.06 + 0.94 * shade / shades));
        svg_.style(".pair:hover", "stroke:currentColor");
    }

    void legend() {
        LegendEntry ramp{"", fmt::format("0 to {}", rate_to_text(most_, element_size_)),
                         shades * 8};
        for (int shade = 1; shade <= shades; ++shade)
            ramp.symbol += fmt::format("<rect class=\"pair s{}\" x=\"{}\" y=\"1\" width=\"8\" "
                                       "height=\"10\"/>",
                                       shade, 8 * (shade - 1));
        svg_.legend({ramp});
    }

    void draw(const PairBandwidth& pair) {
        const int shade =
            std::clamp(static_cast<int>(std::ceil(shades * pair.per_second() / most_)), 1, shades);
        const bool detailed = fields_ <= 32;
        svg_.add(fmt::format(
            "<rect class=\"pair s{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"",
            shade, left + pair.to * field_, top_ + pair.from * field_, field_, field_));
        svg_.add(detailed ? fmt::format("><title>{}</title></rect>\n",
                                        escape(described(pair, element_size_, merged_)))
                          : "/>\n");
    }

    void names() {
        const int every = std::max(1, static_cast<int>(std::ceil(24 / field_)));
        for (int i = 0; i < fields_; i += every) {
            const std::string name = std::to_string(i * merged_);
            const double middle = (i + 0.5) * field_;
            svg_.text(left + middle, top_ - 6, "quiet middle", name);
            svg_.text(left - 8, top_ + middle + 4, "quiet end",
                      i == 0 ? fmt::format("from {}", name) : name);
        }
    }

    const Bytes element_size_;
    const int merged_;
    const std::vector<PairBandwidth> pairs_;
    const double most_;
    const int fields_;
    const double field_;
    double top_ = 0;
    Svg svg_;
};

} // namespace

std::vector<PairBandwidth> bandwidths(const Recording& recording) {
    std::map<std::pair<int, int>, PairBandwidth> pairs;
    const auto size = static_cast<double>(std::max<Bytes>(recording.element_size, 1));
    for (const Message& message : messages_of(recording.trace)) {
        const Event& send = recording.trace.events[message.send];
        const Event& receive = recording.trace.events[message.receive];
        const Seconds took = receive.end - std::max(send.begin, receive.begin);
        if (took <= 0)
            continue; // the message took no time, or clocks disagree
        PairBandwidth& pair = pairs[{send.rank, send.peer}];
        pair.from = send.rank;
        pair.to = send.peer;
        ++pair.messages;
        pair.bytes += static_cast<double>(send.elements) * size;
        pair.seconds += took;
    }
    std::vector<PairBandwidth> all;
    for (const auto& [place, pair] : pairs)
        all.push_back(pair);
    return all;
}

std::string bandwidth_matrix(const Recording& recording) {
    return Matrix(recording).finish();
}

std::string bandwidth_histogram(const Recording& recording) {
    constexpr int bins = 24;
    const std::vector<PairBandwidth> pairs = bandwidths(recording);
    const double most = fastest(pairs);
    ColumnChart chart;
    chart.title = "Number of pairs of ranks by bandwidth";
    chart.subtitle = recording.title();
    chart.kinds = {{"pairs", std::vector<double>(bins)}};
    chart.text = [](double value) { return fmt::format("{:.3g}", value); };
    for (int bin = 0; bin < bins; ++bin)
        chart.places.push_back(rate_to_text(most * (bin + 0.5) / bins, recording.element_size));
    for (const PairBandwidth& pair : pairs) {
        const int bin = std::min(bins - 1, static_cast<int>(bins * pair.per_second() / most));
        chart.kinds[0].values[static_cast<std::size_t>(bin)] += 1;
    }
    return columns(chart);
}

namespace {

/// The counted quantity.
enum class Count { bytes, messages };

struct Sums {
    std::vector<double> sent, received; ///< by rank
};

Sums sums(const Recording& recording, Count count) {
    const auto ranks = static_cast<std::size_t>(recording.ranks);
    const auto size = static_cast<double>(std::max<Bytes>(recording.element_size, 1));
    Sums all{std::vector<double>(ranks), std::vector<double>(ranks)};
    for (const Event& event : recording.trace.events) {
        if (!is_message(event.activity))
            continue;
        auto& moved = event.activity == Activity::send ? all.sent : all.received;
        moved[static_cast<std::size_t>(event.rank)] +=
            count == Count::messages ? 1 : static_cast<double>(event.elements) * size;
    }
    return all;
}

std::string whole(double number) {
    return grouped(static_cast<std::int64_t>(number));
}

std::string drawn(const Recording& recording, Count count) {
    const Sums all = sums(recording, count);
    ColumnChart chart;
    chart.subtitle = recording.title();
    chart.kinds = {{"sent", all.sent}, {"received", all.received}};
    for (int rank = 0; rank < recording.ranks; ++rank)
        chart.places.push_back(fmt::format("rank {}", rank));
    const bool bytes = count == Count::bytes && recording.element_size > 0;
    chart.title = count == Count::messages ? "Messages of each rank"
                  : bytes                  ? "Bytes of each rank"
                                           : "Elements of each rank";
    chart.text = bytes ? bytes_to_text : whole;
    const double sent = std::accumulate(all.sent.begin(), all.sent.end(), 0.0);
    chart.figures = {
        {chart.text(sent), count == Count::messages ? "messages sent in total" : "sent in total"}};
    return columns(chart);
}

bool any_message(const Trace& trace) {
    for (const Event& event : trace.events) {
        if (is_message(event.activity))
            return true;
    }
    return false;
}

} // namespace

Section traffic_section(const Recording& recording) {
    if (!any_message(recording.trace))
        return {};
    std::string html = to_html(Figure{drawn(recording, Count::bytes), ""}) +
                       to_html(Figure{drawn(recording, Count::messages), ""});
    if (recording.lent) {
        html += "<p>Ranks share memory: messages are read in place, so individual messages have "
                "no bandwidth.</p>\n";
    } else if (!bandwidths(recording).empty()) {
        html += to_html(Figure{bandwidth_matrix(recording),
                               "A message is timed from when both sides were ready until it "
                               "arrived; simultaneous messages share the bandwidth."}) +
                to_html(Figure{bandwidth_histogram(recording), ""});
    }
    return {fmt::format("Communication: {}", recording.title()), html};
}

} // namespace sextant::report

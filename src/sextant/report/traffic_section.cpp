// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/traffic_section.hpp"

#include "sextant/report/bandwidth.hpp"
#include "sextant/report/columns.hpp"
#include "sextant/report/messages.hpp"
#include "sextant/report/text.hpp"

#include <numeric>

#include <fmt/format.h>

namespace sextant::report {

namespace {

/// What is counted of messages.
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
        auto& side = event.activity == Activity::send ? all.sent : all.received;
        side[static_cast<std::size_t>(event.rank)] +=
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
                                           : "Elements that each rank moved";
    chart.text = bytes ? bytes_to_text : whole;
    const double sent = std::accumulate(all.sent.begin(), all.sent.end(), 0.0);
    chart.figures = {
        {chart.text(sent), count == Count::messages ? "messages sent in all" : "sent in all"}};
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
    std::string html = to_html({drawn(recording, Count::bytes), ""}) +
                       to_html({drawn(recording, Count::messages), ""});
    if (recording.lent) {
        html += "<p>Ranks share memory: messages are lent and read where they lie, so none has a "
                "bandwidth of its own.</p>\n";
    } else if (!bandwidths(recording).empty()) {
        html += to_html({bandwidth_matrix(recording),
                         "A message counts from when both sides were there until it had arrived; "
                         "several under way at once share what there is."}) +
                to_html({bandwidth_histogram(recording), ""});
    }
    return {fmt::format("What was sent: {}", recording.title()), html};
}

} // namespace sextant::report

// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/report/comparison.hpp"

#include "sextant/report/causes_section.hpp"
#include "sextant/report/text.hpp"
#include "sextant/report/timeline_section.hpp"
#include "sextant/report/traffic_section.hpp"

#include <fmt/format.h>

namespace sextant::report {

namespace {

Fact fact_of(const Recording& recording) {
    std::int64_t messages = 0;
    Elements moved = 0;
    for (const Event& event : recording.trace.events) {
        if (event.activity != Activity::send)
            continue;
        ++messages;
        moved += event.elements;
    }
    const std::string size = recording.element_size > 0
                                 ? bytes_to_text(static_cast<double>(moved) *
                                                 static_cast<double>(recording.element_size))
                                 : counted(moved, "element");
    return {recording.title(),
            fmt::format("{} on {}; {} of {} together", to_text(recording.trace.duration),
                        counted(recording.ranks, "rank"), counted(messages, "message"), size)};
}

} // namespace

Page comparison(std::string title, std::span<const Recording> recordings) {
    Page page;
    page.title = std::move(title);
    for (const Recording& recording : recordings)
        page.facts.push_back(fact_of(recording));
    page.sections = {timeline_section(recordings), causes_section(recordings)};
    for (const Recording& recording : recordings)
        page.sections.push_back(traffic_section(recording));
    return page;
}

} // namespace sextant::report

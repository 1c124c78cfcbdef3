// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/commands.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/schedule_parameters.hpp"
#include "sextant/report/graph_drawing.hpp"

#include <fmt/format.h>

namespace sextant::command {

namespace {

int run_draw(const Values& values) {
    ScheduleRequest request = schedule_request(values);
    if (values.flag("collect"))
        request.root = 0;
    const std::string path = values.text("output");
    check_outputs({&path, 1});
    const NamedSchedule made = make_schedule(request);
    report::DrawOptions options;
    options.title = made.title;
    options.subtitle = fmt::format("{} ranks, {} elements", request.ranks, request.elements);
    const std::string svg = report::draw(made.schedule, options);
    write_text(path, svg);
    return 0;
}

std::vector<Parameter> parameters() {
    std::vector<Parameter> all = schedule_parameters("4096");
    const std::vector<Parameter> rest = {
        {"collect", Type::flag, "", "", "gather the picture at rank 0"},
        {"output", Type::file, "OUT", "", "the SVG file; - for standard output", 'o', false, true}};
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
}

} // namespace

Operation draw_operation() {
    return {"draw",
            "draw a schedule as SVG: who sends what to whom, and what waits for what",
            "  sextant draw compositing --algorithm radix-k --radices 4,2 --ranks 8 -o radix.svg",
            parameters(),
            run_draw,
            true};
}

} // namespace sextant::command

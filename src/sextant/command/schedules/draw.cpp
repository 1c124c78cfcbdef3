// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/commands.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/schedules/families.hpp"
#include "sextant/report/graph_drawing.hpp"

#include <fmt/format.h>

namespace sextant::command {

namespace {

struct DrawCommand {
    ScheduleRequest request = {.elements = 4096};
    bool collect = false;
    std::string output;
};

Record record_of(DrawCommand& command) {
    Record record = record_of(command.request);
    record.add("collect", command.collect, "gather the composited image on rank 0");
    declare_output(record, command.output, "OUT", "the SVG file; - for standard output");
    return record;
}

int run_draw(const DrawCommand& command, const Call&) {
    ScheduleRequest request = command.request;
    if (command.collect)
        request.root = 0;
    check_outputs({&command.output, 1});
    const NamedSchedule made = make_schedule(request);
    report::DrawOptions options;
    options.title = made.title;
    options.subtitle = fmt::format("{} ranks, {} elements", request.ranks, request.elements);
    const std::string svg = report::draw(made.schedule, options);
    write_text(command.output, svg);
    return 0;
}

} // namespace

Operation draw_operation() {
    return declare_command<DrawCommand>(
        "draw", "draw the messages and dependences of a schedule (SVG)",
        "  sextant draw compositing --algorithm radix-k --radices 4,2 --ranks 8 -o radix.svg",
        run_draw, RunOn::one_rank);
}

} // namespace sextant::command

// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/collective/schedule_file.hpp"
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
    declare_output(record, command.output, "OUT",
                   "SVG, or the schedule if OUT ends in .json; - for standard output");
    return record;
}

Effects effects_of(DrawCommand& command) {
    return effects_of(command.request, {"collect"});
}

int run_draw(const DrawCommand& command, const Call&) {
    ScheduleRequest request = command.request;
    if (command.collect)
        request.root = 0;
    check_outputs({&command.output, 1},
                  files_named({is_file(request) ? request.family : std::string()}));
    const NamedSchedule made = make_schedule(request);
    if (command.output.ends_with(".json")) {
        write_text(command.output,
                   sextant::json_of(ScheduleFile{made.schedule, made.kind, made.commutative}));
        return 0;
    }
    report::DrawOptions options;
    options.title = made.title;
    options.subtitle = fmt::format("{} ranks, {} elements", made.ranks(), made.elements);
    write_text(command.output,
               with_errors_of(request, [&] { return report::draw(made.schedule, options); }));
    return 0;
}

} // namespace

Operation draw_operation() {
    return declare_command<DrawCommand>(
        "draw", "draw the messages and dependences of a schedule (SVG)",
        "  sextant draw compositing --algorithm radix-k --radices 4,2 --ranks 8 -o radix.svg\n"
        "  sextant draw collective --algorithm ring-all-reduce --ranks 4 -o ring.json",
        run_draw, RunOn::one_rank);
}

} // namespace sextant::command

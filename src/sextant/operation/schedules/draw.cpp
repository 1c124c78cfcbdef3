// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/schedules/draw.hpp"

#include "sextant/operation/outputs.hpp"
#include "sextant/operation/schedules/families.hpp"
#include "sextant/operation/schedules/tuning.hpp"
#include "sextant/report/draw.hpp"

#include <fmt/format.h>

namespace sextant::operation {

namespace {

int run_draw(const Values& values) {
    ScheduleRequest request;
    request.family = values.text("family");
    request.algorithm = values.text("algorithm");
    request.tuning = schedule_tuning_from(values);
    request.ranks = static_cast<int>(values.integer("ranks"));
    request.elements = values.integer("elements");
    if (values.flag("collect"))
        request.root = 0;
    const std::string path = values.text("output");
    check_outputs({&path, 1});
    const NamedSchedule made = make_schedule(request);
    report::DrawOptions options;
    options.title = made.title;
    options.subtitle = fmt::format("{} ranks, {} elements", request.ranks, request.elements);
    options.animated = values.flag("animate");
    const std::string svg = report::draw(made.schedule, options);
    write_text(path, svg);
    return 0;
}

} // namespace

Operation draw_operation() {
    return {"draw",
            "draw a schedule as SVG: who sends what to whom, and what waits for what",
            "  sextant draw compositing --algorithm radix-k --radices 4,2 --ranks 8 -o radix.svg",
            {family_parameter(),
             {.name = "algorithm",
              .value = "NAME",
              .help = "one of them; default: the first, in its usual tuning"},
             radices_parameter(),
             window_parameter(),
             segments_parameter(),
             interlace_parameter(),
             {.name = "ranks",
              .type = Type::integer,
              .value = "N",
              .fallback = "8",
              .help = "how many take part",
              .least = 1,
              .most = 16384},
             {.name = "elements",
              .type = Type::integer,
              .value = "N",
              .fallback = "4096",
              .help = "pixels of an image, or values",
              .least = 1},
             {"collect", Type::flag, "", "", "gather the picture at rank 0"},
             {"animate", Type::flag, "", "", "round after round stands out"},
             {"output", Type::file, "OUT", "", "the SVG file; - for standard output", 'o', false,
              true}},
            run_draw,
            true};
}

} // namespace sextant::operation

// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/draw.hpp"

#include "sextant/format/atomic_file.hpp"
#include "sextant/operation/families.hpp"
#include "sextant/report/draw.hpp"

#include <cstdio>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

// Half a kilobyte and some microseconds each: more would not fit on a laptop.
constexpr std::int64_t most_messages = 2'000'000;

int run_draw(const Values& values) {
    const ScheduleRequest request{values.text("family"),
                                  values.text("algorithm"),
                                  values.integers("radices"),
                                  static_cast<int>(values.integer("ranks")),
                                  values.integer("elements"),
                                  values.flag("collect") ? 0 : compositing::Task::distributed,
                                  most_messages};
    const NamedSchedule made = make_schedule(request);
    report::DrawOptions options;
    options.title = made.title;
    options.subtitle = fmt::format("{} ranks, {} elements", request.ranks, request.elements);
    const std::string svg = report::draw(made.schedule, options);
    const std::string path = values.text("output");
    if (path == "-")
        std::fputs(svg.c_str(), stdout);
    else
        format::write_file(path, svg);
    return 0;
}

} // namespace

Operation draw_operation() {
    return {"draw",
            "draw a schedule as SVG: who sends what to whom, and what waits for what",
            "  sextant draw compositing --algorithm radix-k --radices 4,2 --ranks 8 -o radix.svg",
            {{"family", Type::choice, "FAMILY", "compositing", "which algorithms", 0, true, false,
              family_names()},
             {"algorithm", Type::text, "NAME", "", "one of them; default: the first"},
             {"radices", Type::integers, "K,K", "", "for radix-k", 0, false, false, {}, 2, 1 << 30},
             {"ranks", Type::integer, "N", "8", "", 0, false, false, {}, 1, 16384},
             {"elements",
              Type::integer,
              "N",
              "4096",
              "pixels of an image, or values",
              0,
              false,
              false,
              {},
              1,
              std::int64_t{1} << 40},
             {"collect", Type::flag, "", "", "gather the picture at rank 0"},
             {"output", Type::file, "OUT", "", "the SVG file; - for standard output", 'o', false,
              true}},
            run_draw};
}

} // namespace sextant::operation

// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/composite/composite.hpp"

#include "sextant/calibrate/planner_here.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/comm/node_sharing.hpp"
#include "sextant/operation/composite/colour.hpp"
#include "sextant/operation/composite/composite_run.hpp"
#include "sextant/operation/launch_ranks.hpp"
#include "sextant/operation/planning_options.hpp"
#include "sextant/operation/schedules/tuning.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

int run_composite(const Values& values) {
    int ranks = static_cast<int>(values.has("ranks") ? values.integer("ranks") : 0);
    std::shared_ptr<const Inputs> inputs; // found once where ranks are threads
    if (detect_launcher().launcher == Launcher::none) {
        inputs = find_inputs(values);
        if (ranks == 0)
            ranks = static_cast<int>(std::min<std::size_t>(inputs->paths.size(), most_threads));
    }
    launch_ranks(values, ranks, [&](Communicator communicator) {
        CompositeRun(values, std::move(communicator), inputs).run();
    });
    return 0;
}

} // namespace

Operation composite_operation() {
    return {
        "composite",
        "blend partial images, one or more a rank, into one picture",
        "  sextant composite brain/manifest.json -o brain.png --background white\n"
        "  mpirun -n 2 sextant composite part*.exr -o frame.exr --algorithm radix-k --radices 2",
        {{.name = "inputs",
          .type = Type::files,
          .value = "IN...",
          .help = "EXR (also deep), PNG or raw images, front to back, or one manifest.json",
          .positional = true,
          .required = true},
         {.name = "output",
          .type = Type::file,
          .value = "OUT",
          .help = "the picture; its ending names a format of 'sextant list formats'",
          .letter = 'o',
          .required = true},
         {.name = "algorithm",
          .value = "NAME",
          .fallback = "auto",
          .help = "predicted to be fastest; or one of 'sextant list algorithms'"},
         radices_parameter(),
         window_parameter(),
         segments_parameter(),
         sparse_parameter(),
         {.name = "interlace",
          .type = Type::choice,
          .value = "WHEN",
          .fallback = "auto",
          .help = "rows dealt in turn, to share what was drawn",
          .choices = {"auto", "on", "off"}},
         shared_memory_parameter(),
         {.name = "operator",
          .value = "NAME",
          .fallback = "auto",
          .help = "over, nearest, add, max or deep; auto: by what images hold"},
         {.name = "element",
          .type = Type::choice,
          .value = "TYPE",
          .fallback = "f32",
          .help = "what colours are blended as",
          .choices = {"f32", "f16", "u8"}},
         {.name = "order",
          .type = Type::integers,
          .value = "I,I,...",
          .help = "images front to back; default: as given",
          .least = 0,
          .most = 1 << 30},
         {.name = "background", .value = "COLOUR", .help = colour_forms},
         {.name = "ranks",
          .type = Type::integer,
          .value = "N",
          .help = "threads; default: one an image",
          .least = 1,
          .most = most_threads},
         {.name = "fold-threads",
          .type = Type::integer,
          .value = "N",
          .fallback = "1",
          .help = "that share a rank's blending; pictures do not depend on it",
          .least = 1,
          .most = most_threads},
         {.name = "association",
          .type = Type::choice,
          .value = "HOW",
          .fallback = "in-order",
          .help = "how operands are bracketed",
          .choices = {"in-order", "by-arrival"}},
         {.name = "machine",
          .type = Type::file,
          .value = "FILE",
          .help = "a profile to predict with; default: this machine's"},
         no_probe_parameter(),
         {.name = "plan",
          .type = Type::file,
          .value = "FILE",
          .help = "do as this plan says; if there is none, write it there"},
         {.name = "race",
          .type = Type::flag,
          .help = "time the likeliest two or three on these images, and take the fastest"},
         {.name = "json",
          .type = Type::file,
          .value = "FILE",
          .help = "write what ran as JSON; - for standard output"},
         {.name = "report",
          .type = Type::file,
          .value = "FILE",
          .help = "write a page that shows the run (HTML); - for standard output"},
         {.name = "trace",
          .type = Type::file,
          .value = "FILE",
          .help = "what each rank did when: JSON (- for here), .otf2 (docs/trace.md)"},
         {.name = "before",
          .value = "NAME=S,...",
          .help = "for the report: earlier phases, seconds"}},
        run_composite};
}

} // namespace sextant::operation

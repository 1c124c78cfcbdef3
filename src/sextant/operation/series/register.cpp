// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/series/register.hpp"

#include "sextant/comm/cores.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/format/frame_catalogue.hpp"
#include "sextant/operation/launch_ranks.hpp"
#include "sextant/operation/series/register_run.hpp"
#include "sextant/operation/tiled.hpp"
#include "sextant/registration/division.hpp"

#include <algorithm>
#include <utility>

namespace sextant::operation {

namespace {

/// The cores of this process, divided as the series is expected to be done first, unless the user
/// or a launcher says how.
registration::Division divided(const Values& values) {
    const auto asked = [&](const char* option) {
        return static_cast<int>(values.has(option) ? values.integer(option) : 1);
    };
    const bool launched = detect_launcher().launcher != Launcher::none;
    if (launched || values.has("threads") || values.has("team"))
        return {launched ? 0 : asked("threads"), asked("team"), 0};
    const int cores = std::clamp(Cores::available().count(), 1, most_threads);
    const FrameHeader header =
        format::open_frames(values.text("series"), source_options(values))->header();
    return registration::best_division(
        cores, header.frames,
        registration::usual_costs(header.shape, registration::SeriesOptions().farthest,
                                  values.text("model") == "nonrigid"));
}

int run_register(const Values& values) {
    const registration::Division division = divided(values);
    launch_ranks(
        values, division.ranks,
        [&](Communicator communicator) {
            RegisterRun(values, std::move(communicator), division.threads).run();
        },
        "threads");
    return 0;
}

std::vector<Parameter> parameters() {
    return {
        {.name = "series",
         .type = Type::file,
         .value = "SERIES",
         .help = "a file of frames, a folder, a pattern or a list (docs/frames.md)",
         .positional = true,
         .required = true},
        {.name = "output",
         .type = Type::file,
         .value = "DIR",
         .help = "results; tx, ty, alpha: how far right, down, clockwise content moved",
         .letter = 'o',
         .required = true},
        {.name = "model",
         .type = Type::choice,
         .value = "NAME",
         .fallback = "rigid",
         .help = "how frames move",
         .choices = {"rigid", "nonrigid"}},
        {.name = "reference",
         .type = Type::integer,
         .value = "N",
         .help = "frame that the others are registered to; default: the first fit one",
         .least = 0,
         .most = most_count},
        channel_parameter(),
        slice_parameter(),
        {.name = "stages",
         .type = Type::integer,
         .value = "N",
         .fallback = "2",
         .help = "each but the first registers to the average of the one before",
         .least = 1,
         .most = 100},
        {.name = "aligned",
         .type = Type::flag,
         .help = "write the registered frames too, NaN where they show nothing"},
        {.name = "format",
         .type = Type::choice,
         .value = "EXT",
         .fallback = "tif",
         .help = "of images",
         .choices = {"tif", "mrc", "npy"}},
        {.name = "threads",
         .type = Type::integer,
         .value = "N",
         .help = "ranks, which take frames; default, with --team: as is fastest here",
         .least = 1,
         .most = most_threads},
        {.name = "team",
         .type = Type::integer,
         .value = "N",
         .help = "threads of a rank, which share the rows of one frame",
         .least = 1,
         .most = most_threads},
        {.name = "reproducible",
         .type = Type::flag,
         .help = "the same bits each time on as many threads or ranks"},
        {.name = "memory",
         .type = Type::integer,
         .value = "MIB",
         .fallback = "64",
         .help = "a thread, for the samples that a median is taken of",
         .least = 1,
         .most = 1 << 20},
        external_parameter(),
        {.name = "anew", .type = Type::flag, .help = "do not go on with a run that ended early"},
        {.name = "report",
         .type = Type::file,
         .value = "FILE",
         .help = "write a page of drift, fit and average (HTML); - for standard output"},
        {.name = "json",
         .type = Type::file,
         .value = "FILE",
         .help = "write what ran as JSON; - for standard output"}};
}

} // namespace

Operation register_operation() {
    return {"register", "register a series of noisy frames to one another, and average them",
            "  sextant register movie.mrc -o out --aligned\n"
            "  mpirun -n 2 sextant register 'frames/a_*.tif' -o out --model nonrigid",
            parameters(), run_register};
}

} // namespace sextant::operation

// SPDX-License-Identifier: BSD-3-Clause

#include "sextant/comm/launch.hpp"
#include "sextant/comm/waiting.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/register_run.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/frame_catalogue.hpp"
#include "sextant/registration/division.hpp"
#include "sextant/registration/field_series.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace sextant::command {

namespace {

/// The division of cores into ranks and threads: as given by the user or the launcher, else what is
/// expected to be fastest for the series.
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

/// Checks the reports, unless they go to the folder of the results, which is checked itself.
void RegisterRun::check_reports() const {
    std::vector<std::string> elsewhere, all = results();
    for (const std::string& path : files_given(values_, {"report", "json"})) {
        all.push_back(path);
        const std::filesystem::path folder(summary_.output);
        const auto parent = std::filesystem::path(path).parent_path();
        if (parent.lexically_normal() != (folder / "").lexically_normal().parent_path())
            elsewhere.push_back(path);
    }
    require_distinct(all);
    keep_inputs(format::files_of_frames(values_.text("series")), all);
    check_outputs(elsewhere);
}

/// The files to be written to the output folder.
std::vector<std::string> RegisterRun::results() const {
    std::vector<std::string> paths = {path_of("transforms.csv"), path_of("transforms.json")};
    for (const char* image : {"average", "median", "count"})
        paths.push_back(path_of(fmt::format("{}.{}", image, values_.text("format"))));
    if (values_.flag("aligned"))
        paths.push_back(path_of(fmt::format("aligned.{}", values_.text("format"))));
    if (nonrigid())
        paths.push_back(path_of("fields.npy"));
    return paths;
}

void RegisterRun::check_folder() const {
    std::error_code unknown;
    const std::filesystem::path folder(summary_.output);
    if (std::filesystem::exists(folder, unknown)) {
        if (!std::filesystem::is_directory(folder, unknown))
            throw InvalidFile(summary_.output, "is no folder");
        return require_writable(path_of("transforms.json"));
    }
    const auto parent = std::filesystem::absolute(folder).lexically_normal().parent_path();
    const auto above = folder.has_filename() ? parent : parent.parent_path();
    if (!std::filesystem::is_directory(above, unknown))
        throw InvalidFile(summary_.output,
                          fmt::format("the folder {} does not exist", above.string()));
    if (access(above.c_str(), W_OK) != 0)
        throw InvalidFile(summary_.output,
                          fmt::format("the folder {} may not be written", above.string()));
}

void RegisterRun::check_memory() const {
    const FrameHeader& header = source_->header();
    const Bytes least = registration::least_memory(header.frames, header.shape.width, {});
    constexpr Bytes mebibyte = 1 << 20;
    if (stage_options_.memory < least)
        throw InvalidTask(fmt::format("--memory {}: a row of {} frames takes more, expected {}",
                                      stage_options_.memory / mebibyte, header.frames,
                                      (least + mebibyte - 1) / mebibyte));
}

/// Throws InvalidFile if the disk is too small: the checkpoint holds the displacement fields of all
/// stages, and those of the last stage are written again.
void RegisterRun::check_disk() const {
    const FrameHeader& header = source_->header();
    const Bytes field = registration::nodes_of_fields(header.shape).elements() * 13;
    const Bytes needed = header.frames * field * (stages_ + 2);
    std::error_code unknown;
    auto folder = std::filesystem::absolute(summary_.output);
    while (!std::filesystem::exists(folder, unknown) && folder.has_relative_path())
        folder = folder.parent_path();
    const auto space = std::filesystem::space(folder, unknown);
    const Bytes scanned = registration::memory_of_scan(header.frames, header.shape);
    const std::string text =
        fmt::format("fields of {} frames in {} stages take up to {} MiB on the disk, {} MiB of "
                    "memory in all while they are scanned",
                    header.frames, stages_, (needed >> 20) + 1, (scanned >> 20) + 1);
    if (!unknown && space.available < static_cast<std::uintmax_t>(needed))
        throw InvalidFile(summary_.output,
                          fmt::format("{}, the disk has {} left", text, space.available >> 20));
    print_note(text);
}

} // namespace sextant::command

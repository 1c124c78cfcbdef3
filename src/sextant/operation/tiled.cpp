// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/tiled.hpp"

#include "sextant/comm/launch.hpp"
#include "sextant/core/error.hpp"
#include "sextant/operation/image_size.hpp"
#include "sextant/operation/launch_ranks.hpp"
#include "sextant/operation/outputs.hpp"

#include <cstdio>
#include <utility>

#include <fmt/format.h>

namespace sextant::operation {

Parameter frame_parameter() {
    return {.name = "frame",
            .type = Type::integer,
            .value = "N",
            .help = "which one of a series, from 0",
            .least = 0,
            .most = most_count};
}

Parameter channel_parameter() {
    return {.name = "channel",
            .type = Type::integer,
            .value = "N",
            .help = "channel to read of a hyperstack, from 0; default: the first",
            .least = 0,
            .most = most_count};
}

Parameter slice_parameter() {
    return {.name = "slice",
            .type = Type::integer,
            .value = "N",
            .help = "slice to read of a hyperstack, from 0; default: the first",
            .least = 0,
            .most = most_count};
}

Parameter ranks_parameter() {
    return {.name = "ranks",
            .type = Type::integer,
            .value = "N",
            .help = "threads; default: a tile of --grid each, or one a core",
            .least = 1,
            .most = most_threads};
}

Parameter grid_parameter() {
    return {.name = "grid",
            .value = "XxY",
            .help = "tiles: so many columns and rows; default: nearly square"};
}

Parameter machine_parameter() {
    return {.name = "machine",
            .type = Type::file,
            .value = "FILE",
            .help = "a profile to predict with; default: this machine's"};
}

Parameter json_parameter() {
    return {.name = "json",
            .type = Type::file,
            .value = "FILE",
            .help = "write what ran as JSON; - for standard output"};
}

Parameter external_parameter() {
    return {.name = "allow-external",
            .type = Type::flag,
            .help = "read samples from any file that an HDF5 file names"};
}

Parameter report_parameter() {
    return {.name = "report",
            .type = Type::file,
            .value = "FILE",
            .help = "write a page that shows the run (HTML); - for standard output"};
}

Parameter memory_parameter(std::string_view mebibytes, std::string_view help) {
    return {.name = "memory",
            .type = Type::integer,
            .value = "MIB",
            .fallback = mebibytes,
            .help = help,
            .least = 1,
            .most = 1 << 30};
}

format::SourceOptions source_options(const Values& values) {
    format::SourceOptions options;
    if (values.has("channel"))
        options.channel = values.integer("channel");
    if (values.has("slice"))
        options.slice = values.integer("slice");
    options.allow_external = values.flag("allow-external");
    return options;
}

std::unique_ptr<RowSource> open_image(const Values& values, ReadAs read_as) {
    std::unique_ptr<FrameSource> frames =
        format::open_frames(values.text("image"), source_options(values));
    const std::int64_t count = frames->header().frames;
    if (!values.has("frame") && count != 1)
        throw InvalidTask(fmt::format("{} has {} frames: expected one, or --frame N",
                                      values.text("image"), count));
    const std::int64_t frame = values.has("frame") ? values.integer("frame") : 0;
    return std::make_unique<RowSource>(std::move(frames), frame, read_as);
}

std::vector<std::string> files_read(const Values& values) {
    std::vector<std::string> files = format::files_of_frames(values.text("image"));
    if (values.has("machine"))
        files.push_back(values.text("machine"));
    return files;
}

void tell_run(const Values& values, std::span<const std::string> warnings, const std::string& json,
              const std::string& text, const std::string& page) {
    print_warnings(warnings);
    if (values.has("json"))
        write_text(values.text("json"), json + "\n");
    if (values.has("report"))
        write_text(values.text("report"), page);
    if (values.text("json") != standard_output && values.text("report") != standard_output)
        print_text(text);
}

void launch_tiles(const Values& values, const std::function<void(Communicator)>& body) {
    if (!values.has("grid") || values.has("ranks") || detect_launcher().launcher != Launcher::none)
        return launch_ranks_or_cores(values, body);
    const ImageSize grid = image_size("grid", values.text("grid"));
    if (grid.width * grid.height > most_threads)
        throw InvalidTask(fmt::format("--grid {}: {} tiles, expected {} or fewer, a thread each",
                                      values.text("grid"), grid.width * grid.height, most_threads));
    launch_ranks(values, static_cast<int>(grid.width * grid.height), body);
}

Grid grid_asked_for(const Values& values, ImageShape image, int ranks) {
    const ImageSize grid = image_size("grid", values.text("grid"));
    if (grid.width * grid.height != ranks)
        throw InvalidTask(fmt::format("--grid {}: {} tiles, expected as many as the {} ranks",
                                      values.text("grid"), grid.width * grid.height, ranks));
    return {image.width, image.height, static_cast<int>(grid.width), static_cast<int>(grid.height)};
}

Grid grid_of(const Values& values, ImageShape image, int ranks) {
    return values.has("grid") ? grid_asked_for(values, image, ranks)
                              : near_square(ranks, image.width, image.height);
}

} // namespace sextant::operation

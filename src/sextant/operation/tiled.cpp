// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/tiled.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/comm/cores.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/frame_catalogue.hpp"
#include "sextant/operation/image_size.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

constexpr int most_threads = 1024;

} // namespace

Parameter frame_parameter() {
    return {.name = "frame",
            .type = Type::integer,
            .value = "N",
            .help = "which one of a series, from 0",
            .least = 0};
}

Parameter ranks_parameter() {
    return {.name = "ranks",
            .type = Type::integer,
            .value = "N",
            .help = "threads; default: one a core",
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
            .help = "a profile to predict with; default: this machine's, or a built-in one"};
}

Parameter json_parameter() {
    return {.name = "json",
            .type = Type::file,
            .value = "FILE",
            .help = "write what ran as JSON; - for standard output"};
}

void launch_ranks(const Values& values, const std::function<void(Communicator)>& body) {
    const bool launched = detect_launcher().launcher != Launcher::none;
    int ranks = static_cast<int>(values.has("ranks") ? values.integer("ranks") : 0);
    if (!launched && ranks == 0)
        ranks = std::clamp(Cores::available().count(), 1, most_threads);
    launch(ranks, [&](Communicator communicator) {
        if (values.has("ranks") && communicator.size() != values.integer("ranks")) {
            throw AgreedFailure(
                fmt::format("--ranks {} under a launcher that started {} processes; "
                            "leave it out",
                            values.integer("ranks"), communicator.size()),
                true);
        }
        body(std::move(communicator));
    });
}

std::unique_ptr<RowSource> open_image(const Values& values) {
    std::unique_ptr<FrameSource> frames = format::open_frames(values.text("image"));
    const std::int64_t count = frames->header().frames;
    if (!values.has("frame") && count != 1)
        throw InvalidTask(fmt::format("{} has {} frames: expected one, or --frame N",
                                      values.text("image"), count));
    const std::int64_t frame = values.has("frame") ? values.integer("frame") : 0;
    return std::make_unique<RowSource>(std::move(frames), frame);
}

Grid grid_asked_for(const Values& values, ImageShape image, int ranks) {
    const ImageSize grid = image_size("grid", values.text("grid"));
    if (grid.width * grid.height != ranks)
        throw InvalidTask(fmt::format("--grid {}: expected as many tiles as the {} ranks",
                                      values.text("grid"), ranks));
    return {image.width, image.height, static_cast<int>(grid.width), static_cast<int>(grid.height)};
}

Grid grid_of(const Values& values, ImageShape image, int ranks) {
    return values.has("grid") ? grid_asked_for(values, image, ranks)
                              : near_square(ranks, image.width, image.height);
}

} // namespace sextant::operation

// SPDX-License-Identifier: BSD-3-Clause
// Finds regions of similar brightness in an image and lists the largest ones.
#include "sextant/array/row_source.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/catalogue.hpp"

#include <algorithm>
#include <cstdio>

#include "regions.hpp"
#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace {

using namespace sextant;

struct Options {
    std::string image;
    int bands = 4, ranks = 2, most = 10;
};

void show(std::vector<example::Region> regions, int most) {
    std::ranges::stable_sort(regions, std::ranges::greater{},
                             [](const example::Region& region) { return region.pixels.voxels; });
    fmt::print("{} regions\n{:>10} {:>20} {:>10}\n", regions.size(), "area", "centroid",
               "brightness");
    regions.resize(std::min(regions.size(), static_cast<std::size_t>(most)));
    for (const auto& [pixels, brightness] : regions)
        fmt::print("{:>10} {:>20} {:>10.1f}\n", pixels.voxels,
                   fmt::format("({:.1f}, {:.1f})", pixels.centroid()[2], pixels.centroid()[1]),
                   brightness);
}

void run(const Options& options) {
    run_threads(options.ranks, [&](Communicator communicator) {
        RowSource source(format::open_frames(options.image), 0);
        const Grid grid{source.shape().width, source.shape().height, 1, communicator.size()};
        const distributed::Image image = distributed::read_tiles(communicator, grid, source);
        const std::vector<example::Region> regions =
            example::grow_regions(image, options.bands, contour::find("logp-lev-quad"));
        if (communicator.rank() == 0)
            show(regions, options.most);
    });
}

} // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Finds regions of similar brightness in an 8-bit image.");
    app.add_option("image", options.image, "image with 8-bit samples")->required();
    app.add_option("--bands", options.bands, "number of brightness levels, 1 to 255");
    app.add_option("--ranks", options.ranks, "number of ranks (threads), each with one tile");
    app.add_option("--most", options.most, "number of regions to list, largest first")
        ->check(CLI::NonNegativeNumber);
    CLI11_PARSE(app, argc, argv);
    try {
        run(options);
    } catch (const Error& error) {
        fmt::print(stderr, "grow_regions: {}\n", error.what());
        return 1;
    }
}

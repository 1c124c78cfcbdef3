// SPDX-License-Identifier: BSD-3-Clause
// Draws nested and intersecting translucent shells into deep images, one per rank of a parallel
// renderer. Blending whole images would be wrong in any order, so fragments are merged by depth:
//
//   draw_shells --parts 5 -o shells
//   sextant composite shells/part_*.exr -o shells.png --background white
#include "sextant/format/catalogue.hpp"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "examples/shells/deep_scenes.hpp"
#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace {

using namespace sextant;

struct Asked {
    int parts = 4, size = 256, shells = 12;
    std::string folder, sorted;
};

std::vector<DeepImage> draw(const Asked& requested) {
    const kernel::Shells scene{{requested.size, requested.size}, requested.shells};
    std::filesystem::create_directories(requested.folder);
    std::vector<DeepImage> images;
    for (int part = 0; part < requested.parts; ++part) {
        images.push_back(kernel::draw_shells(scene, part, requested.parts));
        format::write_deep(fmt::format("{}/part_{:02}.exr", requested.folder, part), images.back());
    }
    return images;
}

/// Writes the reference image: the fragments of each pixel sorted by depth, then blended.
void write_sorted(const std::string& path, const std::vector<DeepImage>& images) {
    const std::vector<RgbaF32> pixels = kernel::blend_sorted(images);
    Image picture(images[0].shape, rgba_f32);
    std::memcpy(picture.bytes().data(), pixels.data(), picture.bytes().size());
    format::write_image(path, picture);
}

} // namespace

int main(int argc, char** argv) {
    Asked requested;
    CLI::App app("Draws translucent shells into deep images, one per rank.");
    app.add_option("--parts", requested.parts, "number of images")->check(CLI::Range(1, 99));
    app.add_option("--size", requested.size, "width and height of an image in pixels")
        ->check(CLI::Range(1, 8192));
    app.add_option("--shells", requested.shells, "number of shells")->check(CLI::Range(0, 500));
    app.add_option("-o,--output", requested.folder, "folder for part_00.exr, ...")->required();
    app.add_option("--sorted", requested.sorted,
                   "also write the image that results from sorting the fragments of each pixel");
    CLI11_PARSE(app, argc, argv);
    try {
        const std::vector<DeepImage> images = draw(requested);
        if (!requested.sorted.empty())
            write_sorted(requested.sorted, images);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "draw_shells: %s\n", error.what());
        return 1;
    }
    return 0;
}

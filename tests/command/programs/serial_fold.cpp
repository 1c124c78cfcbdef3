// SPDX-License-Identifier: BSD-3-Clause
// serial_fold MANIFEST OUT.exr: blends the images of a manifest front to back, pixel by pixel,
// using only Sextant's readers and writers. The command must reproduce its result to the bit.
#include "sextant/format/catalogue.hpp"
#include "sextant/format/manifest.hpp"

int main(int argc, char** argv) {
    using namespace sextant;
    if (argc != 3)
        return 2;
    const format::Partials partials = format::read_manifest(argv[1]);
    Image sum(partials.shape, rgba_f32), layer(partials.shape, rgba_f32);
    bool first = true;
    for (int index : partials.order) {
        Image& to = first ? sum : layer;
        format::read_pixels(partials.paths[static_cast<std::size_t>(index)], partials.header(),
                            to.bytes());
        if (first) {
            first = false;
            continue;
        }
        const auto back = layer.pixels<RgbaF32>();
        const auto front = sum.pixels<RgbaF32>();
        for (std::size_t i = 0; i < front.size(); ++i) {
            const float through = 1.0f - front[i].a;
            front[i].r = front[i].r + through * back[i].r;
            front[i].g = front[i].g + through * back[i].g;
            front[i].b = front[i].b + through * back[i].b;
            front[i].a = front[i].a + through * back[i].a;
        }
    }
    format::write_image(argv[2], sum);
}

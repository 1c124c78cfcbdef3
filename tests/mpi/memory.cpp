// SPDX-License-Identifier: BSD-3-Clause
// Memory of compositing in addition to the input: less than two images, of which one is the result.
#include "sextant/core/memory.hpp"

#include "sextant/compositing/catalogue.hpp"
#include "sextant/compositor/compositor.hpp"

#include <fstream>
#include <string>

#include "tests/mpi/groups.hpp"
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

/// Private memory of this process: pages that are neither shared nor mapped from files.
Bytes own_pages() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        if (word == "RssAnon:") {
            Bytes kibibytes = 0;
            status >> kibibytes;
            return kibibytes << 10;
        }
    }
    return 0;
}

/// Memory of a compositor after its second frame, in images; later frames take no more.
double images_taken(const Communicator& communicator, const CompositeOptions& options) {
    constexpr ImageShape shape{2048, 1024}; // large enough that parts have many huge pages
    Image image(shape, rgba_f32);
    write_anew(image.bytes());
    const Bytes before = own_pages();
    Compositor compositor(communicator, shape, 1, options);
    for (int frame = 0; frame < 2; ++frame)
        compositor.composite(std::as_const(image).bytes());
    return static_cast<double>(own_pages() - before) / static_cast<double>(image.bytes().size());
}

/// Tolerance in images, for huge pages, MPI, and small allocations.
constexpr double slack = .35;

/// Number of images that a rank may need, including the result: two at the root, which holds the
/// result; one elsewhere, except for algorithms that fold whole images.
double most_images(std::string_view algorithm, bool at_root) {
    return at_root || algorithm == "binary-tree" ? 2 : 1;
}

TEST(MemoryOfARank, holds_one_image_besides_the_input_and_the_result) {
    for (const int ranks : {2, 4, 7}) {
        on_group(ranks, [&](const Communicator& communicator) {
            for (const auto& algorithm : compositing::catalogue()) {
                if (algorithm.tunings(ranks).empty())
                    continue;
                for (const int root : {0, CompositeOptions::distributed}) {
                    CompositeOptions options;
                    options.algorithm = algorithm.name;
                    options.root = root;
                    const double taken = images_taken(communicator, options);
                    const double picture = communicator.rank() == root ? 1 : 0;
                    EXPECT_LE(taken, most_images(algorithm.name, picture > 0) + slack)
                        << fmt::format("{} on {} ranks, root {}", algorithm.name, ranks, root);
                    if (picture > 0) {
                        EXPECT_GE(taken, picture - slack)
                            << "the counted memory is the used memory";
                    }
                }
            }
        });
    }
}

} // namespace
} // namespace sextant::test

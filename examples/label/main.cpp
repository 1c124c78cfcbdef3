// SPDX-License-Identifier: BSD-3-Clause
// Labels the components of an image, by the threads of one process, or by two processes:
// label IMAGE LABELS, or mpirun -n 2 label IMAGE LABELS
#include "sextant/communicator.hpp"
#include "sextant/format.hpp"
#include "sextant/label.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <thread>

using namespace sextant;

void label_image(const Communicator& communicator, const char* image, const char* labels) {
    RowSource source(format::open_frames(image), 0, ReadAs::values);
    std::unique_ptr<FrameSink> sink;
    if (communicator.rank() == 0)
        sink = format::create_frames(labels, {1, source.shape(), Sample::u32});
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    const Labelling labelling(communicator, {.threads = std::max(1, cores / communicator.size())});
    const LabelResult result =
        labelling.run(source, [&](auto, std::span<const kernel::Label> rows) {
            sink->write_samples(std::as_bytes(rows));
        });
    if (!sink)
        return;
    sink->commit();
    std::printf("%lld components\n", static_cast<long long>(result.components));
}

int main(int argc, char** argv) try {
    if (argc != 3)
        return std::fputs("usage: label IMAGE LABELS\n", stderr), 2;
    launch(1, [&](const Communicator& ranks) { label_image(ranks, argv[1], argv[2]); });
} catch (const std::exception& error) {
    const auto* const agreed = dynamic_cast<const AgreedFailure*>(&error);
    if (!agreed || !agreed->reported()) // launch() has not printed the error
        std::fprintf(stderr, "label: %s\n", error.what());
    return 1;
}

// SPDX-License-Identifier: BSD-3-Clause
// Times of frames of IceT's interface, over the library that the loader finds: IceT's or Sextant's
// (bench/icet_frame.py runs both). Method: the clock runs from the end of the draw callback to the
// return of icetDrawFrame, on the rank that returns last; all ranks begin a frame together. The
// callback copies pixels that exist already.
//
//   icet_frame WIDTH HEIGHT z|blend full|half|moving FRAMES
//
// half: each rank draws half of the display. moving: the same, and the halves move by a few pixels
// in every frame, as when a camera turns.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <IceT.h>
#include <IceTMPI.h>

namespace {

std::vector<std::uint8_t> colors;
std::vector<float> depths;
double drawn_at;

void draw(const IceTDouble*, const IceTDouble*, const IceTFloat*, const IceTInt* part,
          IceTImage result) {
    const auto width = static_cast<std::size_t>(icetImageGetWidth(result));
    const auto copy_rows = [&](auto* to, const auto* from, std::size_t channels) {
        for (int y = part[1]; y < part[1] + part[3]; ++y) {
            const std::size_t at =
                (static_cast<std::size_t>(y) * width + static_cast<std::size_t>(part[0])) *
                channels;
            std::memcpy(to + at, from + at,
                        static_cast<std::size_t>(part[2]) * channels * sizeof(*to));
        }
    };
    copy_rows(icetImageGetColorub(result), colors.data(), 4);
    if (icetImageGetDepthFormat(result) == ICET_IMAGE_DEPTH_FLOAT)
        copy_rows(icetImageGetDepthf(result), depths.data(), 1);
    drawn_at = MPI_Wtime();
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc != 6) {
        std::fprintf(stderr, "usage: icet_frame WIDTH HEIGHT z|blend full|half|moving FRAMES\n");
        return 2;
    }
    const int width = std::atoi(argv[1]), height = std::atoi(argv[2]), frames = std::atoi(argv[5]);
    const bool blend = std::string(argv[3]) == "blend", half = std::string(argv[4]) != "full";
    const bool moving = std::string(argv[4]) == "moving";
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const auto pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
    colors.resize(4 * pixels);
    depths.resize(pixels);
    std::uint32_t random = 1 + static_cast<std::uint32_t>(rank);
    for (std::size_t i = 0; i < pixels; ++i) {
        random = random * 1664525U + 1013904223U;
        const auto level = static_cast<std::uint8_t>(random >> 24);
        for (std::size_t channel = 0; channel < 4; ++channel)
            colors[4 * i + channel] = channel == 3 ? 255 - level / 2 : level / 2;
        depths[i] = static_cast<float>(random >> 8) / 16777216.F;
    }
    IceTCommunicator communicator = icetCreateMPICommunicator(MPI_COMM_WORLD);
    IceTContext context = icetCreateContext(communicator);
    icetDestroyMPICommunicator(communicator);
    icetAddTile(0, 0, width, height, 0);
    icetStrategy(ICET_STRATEGY_SEQUENTIAL);
    icetDisable(ICET_COMPOSITE_ONE_BUFFER);
    if (blend) {
        icetCompositeMode(ICET_COMPOSITE_MODE_BLEND);
        icetSetDepthFormat(ICET_IMAGE_DEPTH_NONE);
        icetEnable(ICET_ORDERED_COMPOSITE);
    }
    icetDrawCallback(draw);
    // Half of the display for each rank, overlapping neighbours.
    const auto bound = [&](int frame) {
        const double left = size > 1 ? -1 + 1. * rank / (size - 1) : -1;
        const double moved = moving ? .004 * (frame % 50) : 0;
        icetBoundingBoxd(left + moved, left + 1 + moved, -1 + moved, 1, -.5, .5);
    };
    if (half)
        bound(0);
    else
        icetBoundingBoxd(-1, 1, -1, 1, -.5, .5);
    const double identity[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    const float background[4] = {0, 0, 0, 0};
    std::vector<double> times, stated;
    for (int frame = 0; frame < frames + 3; ++frame) {
        if (moving)
            bound(frame);
        MPI_Barrier(MPI_COMM_WORLD);
        icetDrawFrame(identity, identity, background);
        double took = MPI_Wtime() - drawn_at, longest = 0, composite = 0;
        MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        icetGetDoublev(ICET_COMPOSITE_TIME, &composite);
        double read = 0;
        icetGetDoublev(ICET_BUFFER_READ_TIME, &read);
        composite += read;
        double longest_stated = 0;
        MPI_Reduce(&composite, &longest_stated, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (frame >= 3) {
            times.push_back(longest);
            stated.push_back(longest_stated);
        }
    }
    if (rank == 0) {
        std::sort(times.begin(), times.end());
        std::sort(stated.begin(), stated.end());
        std::printf("%.6f %.6f\n", times[times.size() / 2], stated[stated.size() / 2]);
    }
    icetDestroyContext(context);
    MPI_Finalize();
}

// SPDX-License-Identifier: BSD-3-Clause
// The cost of a message of a schedule, compared with hand-written MPI calls.
//
//   mpirun -n 2 bench_message [cases/message.json] [BLOCKS]
//
// Method: both versions do the same work, an exchange of halves between two ranks and one fold with
// the same kernel, on the same communicator and with buffers at the same offsets in a page (other
// offsets can change the time of large messages by 5 % and of small folds by 100 ns). They
// alternate in blocks of some milliseconds within one run, in random order within a pair of blocks,
// so that drift of the machine affects both. Each pair gives one ratio and one difference; the
// medians over all pairs with bootstrap intervals are reported, never minima. An untimed barrier
// separates blocks.
#include "sextant/comm/execute.hpp"
#include "sextant/comm/mpi.hpp"
#include "sextant/compositing/catalogue.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/kernel/fold/catalogue.hpp"

#include <chrono>
#include <fstream>
#include <random>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>
#include <nlohmann/json.hpp>

namespace {

using namespace sextant;
using Clock = std::chrono::steady_clock;

/// One round of Binary-Swap with hand-written MPI calls.
class ByHand {
  public:
    /// The receive buffer has the same offset in its page as `like`.
    ByHand(MPI_Comm comm, std::span<RgbaF32> image, const std::byte* like)
        : comm_(comm),
          image_(image),
          half_(static_cast<int>(image.size() / 2)),
          memory_(half_ * static_cast<Bytes>(sizeof(RgbaF32)) + 2 * page),
          incoming_(memory_.data() + (offset(like) - offset(memory_.data()) + page) % page) {
        MPI_Comm_rank(comm, &rank_);
    }

    void run() {
        const int bytes = half_ * static_cast<int>(sizeof(RgbaF32));
        RgbaF32* const kept = image_.data() + (rank_ == 0 ? 0 : half_);
        RgbaF32* const given = image_.data() + (rank_ == 0 ? half_ : 0);
        MPI_Request requests[2];
        MPI_Irecv(incoming_, bytes, MPI_BYTE, 1 - rank_, 0, comm_, &requests[0]);
        MPI_Isend(given, bytes, MPI_BYTE, 1 - rank_, 0, comm_, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        const auto* own = reinterpret_cast<const std::byte*>(kept);
        const std::byte* const other = incoming_;
        const std::byte* operands[] = {rank_ == 0 ? own : other, rank_ == 0 ? other : own};
        over_.fold(operands, incoming_, half_);
    }

  private:
    static constexpr Bytes page = 4096;
    static Bytes offset(const std::byte* address) {
        return static_cast<Bytes>(reinterpret_cast<std::uintptr_t>(address) % page);
    }

    MPI_Comm comm_;
    std::span<RgbaF32> image_;
    int rank_ = 0, half_ = 0;
    Memory memory_;
    std::byte* const incoming_;
    const Operator& over_ = kernel::find("over");
};

Execution scheduled(MPI_Comm comm, std::span<const RgbaF32> image) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const auto task = compositing::one_image_each(2, static_cast<Elements>(image.size()));
    Execution execution(from_mpi(comm),
                        compositing::program(compositing::find("binary-swap"), task, {}, rank),
                        kernel::find("over"));
    execution.bind(0, std::as_bytes(image));
    return execution;
}

/// Seconds per repetition.
template <class Body>
double time_block(MPI_Comm comm, int repeats, Body&& body) {
    MPI_Barrier(comm);
    const auto begin = Clock::now();
    for (int i = 0; i < repeats; ++i)
        body();
    return std::chrono::duration<double>(Clock::now() - begin).count() / repeats;
}

void run_case(MPI_Comm comm, int pixels, int repeats, int blocks) {
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    Image whole({2 * pixels, 1}, rgba_f32);
    const std::span<RgbaF32> image = whole.pixels<RgbaF32>();
    std::fill(image.begin(), image.end(), RgbaF32{.25f, .25f, .25f, .5f});
    Execution ours = scheduled(comm, image);
    ByHand by_hand(comm, image, ours.result().data());
    std::mt19937 coin(7); // same seed on both ranks
    std::vector<double> hand_times, our_times, ratios, differences;
    for (int block = -2; block < blocks; ++block) { // the first two blocks are warm-up
        const bool hand_first = coin() & 1;
        double hand = 0, scheduled_time = 0;
        for (const bool first : {true, false}) {
            if (first == hand_first)
                hand = time_block(comm, repeats, [&] { by_hand.run(); });
            else
                scheduled_time = time_block(comm, repeats, [&] { ours.run(); });
        }
        if (block < 0)
            continue;
        hand_times.push_back(hand);
        our_times.push_back(scheduled_time);
        ratios.push_back(scheduled_time / hand);
        differences.push_back(scheduled_time - hand);
    }
    if (rank != 0)
        return;
    const Interval ratio = interval_of_median(ratios);
    const Interval difference = interval_of_median(differences);
    fmt::print(
        "{:>9} {:>11} {:>10.3f} {:>10.3f} {:>8.3f} [{:.3f}, {:.3f}] {:>9.0f} [{:.0f}, {:.0f}]\n",
        pixels, pixels * static_cast<int>(sizeof(RgbaF32)), median(hand_times) * 1e6,
        median(our_times) * 1e6, median(ratios), ratio.low, ratio.high, median(differences) * 1e9,
        difference.low * 1e9, difference.high * 1e9);
    std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::ifstream file(argc > 1 ? argv[1] : "bench/cases/message.json");
    if (size != 2 || !file) {
        if (rank == 0)
            fmt::print(stderr, "usage: mpirun -n 2 bench_message [CASES.json] [BLOCKS]\n");
        MPI_Finalize();
        return 2;
    }
    const int blocks = argc > 2 ? std::atoi(argv[2]) : 200;
    if (rank == 0) {
        fmt::print("{} pairs of blocks; an exchange and a fold; medians, 95 % intervals\n", blocks);
        fmt::print("{:>9} {:>11} {:>10} {:>10} {:>8} {:>16} {:>9}\n", "pixels", "bytes", "hand us",
                   "ours us", "ratio", "", "ns more");
    }
    const nlohmann::json cases = nlohmann::json::parse(file);
    for (const auto& row : cases.at("cases")) {
        run_case(MPI_COMM_WORLD, row.at("pixels"), row.at("repeats"), blocks);
    }
    MPI_Finalize();
}

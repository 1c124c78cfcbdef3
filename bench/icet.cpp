// SPDX-License-Identifier: BSD-3-Clause
// Compositing compared with IceT, which ParaView, VTK and VisIt use.
//
//   mpirun -n N bench_icet [cases/icet.json] [ROUNDS] [STRATEGY...]
//
// Method: all configurations blend the same images, in the same order, on the same processes. Ours
// are: messages only; shared memory within a node, with images that are already in it; and the same
// with images that are copied into it. IceT runs with each of its strategies, or with those named.
// In each round, every configuration runs one block of frames, in a new random order; a block
// begins with a new context (IceT) or compositor (ours) and one untimed frame. Before each frame, a
// rank rewrites its image, as a renderer would. Each frame is timed between barriers: by the
// slowest rank, and by the CPU time of all ranks, which is more reliable if other programs run or
// ranks outnumber cores (it includes waiting unless ranks sleep). Each round gives one ratio to
// each of IceT's strategies; the table shows the ratio to the strategy with the lowest median. The
// composited images are compared first.
#include "sextant/comm/mpi.hpp"
#include "sextant/comm/node_sharing.hpp"
#include "sextant/command/composite/composite.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/kernel/fold/catalogue.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <numeric>
#include <random>

#include "bench/icet_contenders.hpp"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace {

using namespace sextant;
using namespace sextant::bench;

constexpr int frames_a_block = 3;

double cpu_of_this_process() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The times of a frame in seconds: the slowest rank's wall time, and the CPU time of all ranks.
struct Took {
    double wall = 0, cpu = 0;
};

/// The times of one configuration, one per round.
struct Times {
    std::vector<double> wall, cpu;
};

/// The median and confidence interval of the ratios within rounds.
nlohmann::ordered_json ratio(const std::vector<double>& ours, const std::vector<double>& theirs) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < ours.size(); ++round)
        ratios.push_back(ours[round] / theirs[round]);
    const Interval interval = interval_of_median(ratios);
    return {{"median", median(ratios)}, {"low", interval.low}, {"high", interval.high}};
}

/// One case: its images, all configurations, and their times.
class Match {
  public:
    Match(MPI_Comm comm, const Communicator& shared, const lab::CompositeCase& what,
          const std::vector<std::string>& strategies)
        : communicator_(from_mpi(comm)),
          what_(what),
          image_(
              what.shape,
              kernel::find(what.blend, command::element_named(what.element, what.blend)).element) {
        lab::fill_image(image_, what.image, communicator_.rank(), communicator_.size());
        planes_ = std::make_unique<Planes>(image_);
        add_ours(shared);
        for (const std::string& strategy : strategies)
            configurations_.push_back(icet(comm, what_, *planes_, strategy));
        times_.resize(configurations_.size());
    }

    void play(int rounds) {
        if (what_.collect)
            compare();
        std::vector<std::size_t> order(configurations_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::mt19937 random(1); // same seed on all ranks
        for (int round = 0; round < rounds; ++round) {
            std::shuffle(order.begin(), order.end(), random);
            for (const std::size_t contender : order) {
                const Took took = block(*configurations_[contender]);
                times_[contender].wall.push_back(took.wall);
                times_[contender].cpu.push_back(took.cpu);
            }
        }
    }

    /// Returns one result for each of our configurations.
    std::vector<nlohmann::ordered_json> results() const {
        nlohmann::ordered_json wall, cpu;
        for (std::size_t contender = 0; contender < configurations_.size(); ++contender) {
            wall[configurations_[contender]->name()] = median(times_[contender].wall) * 1e3;
            cpu[configurations_[contender]->name()] = median(times_[contender].cpu) * 1e3;
        }
        const std::size_t by_wall = best(&Times::wall), by_cpu = best(&Times::cpu);
        std::vector<nlohmann::ordered_json> all;
        for (std::size_t contender = 0; contender < ours_; ++contender) {
            all.push_back({{"case", what_.name},
                           {"ranks", communicator_.size()},
                           {"collect", what_.collect},
                           {"milliseconds", wall},
                           {"cpu_milliseconds", cpu},
                           {"ours", configurations_[contender]->name()},
                           {"best", configurations_[by_wall]->name()},
                           {"ratio", ratio(times_[contender].wall, times_[by_wall].wall)},
                           {"cpu_best", configurations_[by_cpu]->name()},
                           {"cpu_ratio", ratio(times_[contender].cpu, times_[by_cpu].cpu)}});
        }
        return all;
    }

  private:
    void add_ours(const Communicator& shared) {
        configurations_.push_back(ours({"messages", communicator_, image_.bytes()}, what_, image_));
        if (shared.shares_nodes()) {
            const auto own = std::as_const(image_).bytes();
            shared_image_ = shared.memory(static_cast<Bytes>(own.size()));
            std::copy(own.begin(), own.end(), shared_image_.data());
            configurations_.push_back(
                ours({"shared", shared, shared_image_.bytes()}, what_, image_));
            configurations_.push_back(ours({"copied in", shared, image_.bytes()}, what_, image_));
        }
        ours_ = configurations_.size();
    }

    /// The index of IceT's strategy with the lowest median.
    std::size_t best(std::vector<double> Times::*kind) const {
        std::size_t least = ours_;
        for (std::size_t contender = ours_; contender < configurations_.size(); ++contender) {
            if (median(times_[contender].*kind) < median(times_[least].*kind))
                least = contender;
        }
        return least;
    }

    /// Runs a block; returns the median times of its frames.
    Took block(Contender& contender) {
        contender.open();
        contender.frame();
        Times times;
        for (int i = 0; i < frames_a_block; ++i) {
            const Took took = frame(contender);
            times.wall.push_back(took.wall);
            times.cpu.push_back(took.cpu);
        }
        contender.close();
        return {median(times.wall), median(times.cpu)};
    }

    Took frame(Contender& contender) {
        contender.redraw();
        communicator_.barrier();
        const double cpu = cpu_of_this_process();
        const auto begin = std::chrono::steady_clock::now();
        contender.frame();
        const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
        Took all;
        for (const Took& each :
             communicator_.all_gather(Took{wall.count(), cpu_of_this_process() - cpu})) {
            all.wall = std::max(all.wall, each.wall);
            all.cpu += each.cpu;
        }
        return all;
    }

    /// Aborts unless all composited images are equal up to rounding: a byte may differ by one unit
    /// per rank, a float by 1e-6 per rank.
    void compare() {
        std::vector<float> first;
        for (const auto& contender : configurations_) {
            contender->open();
            contender->frame();
            if (communicator_.rank() == 0) {
                const std::vector<float> shown = contender->picture();
                if (first.empty())
                    first = shown;
                double farthest = shown.size() == first.size() ? 0 : INFINITY;
                for (std::size_t i = 0; i < shown.size() && i < first.size(); ++i)
                    farthest = std::max(farthest, std::abs(double{shown[i]} - first[i]));
                const double allowed = communicator_.size() * (planes_->bytes() ? 1. / 255 : 1e-6);
                if (farthest > allowed) {
                    fmt::print(stderr, "{}: '{}' differs from '{}' by {}\n", what_.name,
                               contender->name(), configurations_.front()->name(), farthest);
                    MPI_Abort(MPI_COMM_WORLD, 1);
                }
            }
            contender->close();
        }
    }

    Communicator communicator_;
    lab::CompositeCase what_;
    Image image_;
    Memory shared_image_; // copy of image_ in memory that other ranks can read
    std::unique_ptr<Planes> planes_;
    std::vector<std::unique_ptr<Contender>> configurations_; // our configurations come first
    std::size_t ours_ = 0;
    std::vector<Times> times_;
};

std::string cells(const nlohmann::ordered_json& result, const char* best, const char* times,
                  const char* ratio) {
    const std::string theirs = result[best], ours = result["ours"];
    return fmt::format("{} | {:.2f} | {:.2f} | {:.2f} [{:.2f}, {:.2f}]", theirs,
                       result[times][theirs].get<double>(), result[times][ours].get<double>(),
                       result[ratio]["median"].get<double>(), result[ratio]["low"].get<double>(),
                       result[ratio]["high"].get<double>());
}

/// Prints the results, those with the highest ratio of our CPU time to IceT's first.
void print(std::vector<nlohmann::ordered_json> results) {
    std::sort(results.begin(), results.end(), [](const auto& a, const auto& b) {
        return a["cpu_ratio"]["median"] > b["cpu_ratio"]["median"];
    });
    for (const auto& result : results)
        fmt::print("{}\n", result.dump());
    fmt::print("\n| case | ranks | ours | IceT's best | ms | ours | of IceT | by CPU | ms | ours | "
               "of IceT |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (const auto& result : results) {
        fmt::print("| {} | {} | {} | {} | {} |\n", result["case"].get<std::string>(),
                   result["ranks"].get<int>(), result["ours"].get<std::string>(),
                   cells(result, "best", "milliseconds", "ratio"),
                   cells(result, "cpu_best", "cpu_milliseconds", "cpu_ratio"));
    }
}

void play_all(const std::string& path, int rounds, const std::vector<std::string>& strategies) {
    const Communicator communicator = from_mpi(MPI_COMM_WORLD);
    const SharedNodes nodes = share_nodes(communicator);
    std::vector<nlohmann::ordered_json> results;
    for (const lab::CompositeCase& what : lab::read_composite_cases(path)) {
        Match match(MPI_COMM_WORLD, nodes.communicator, what, strategies);
        match.play(rounds);
        for (auto& result : match.results())
            results.push_back(std::move(result));
    }
    if (communicator.rank() != 0)
        return;
    if (!nodes.why_not.empty())
        fmt::print("messages only: {}\n", nodes.why_not);
    print(std::move(results));
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    try {
        const std::string path = argc > 1 ? argv[1] : SEXTANT_SOURCE_DIR "/bench/cases/icet.json";
        const int rounds = argc > 2 ? std::stoi(argv[2]) : 11;
        std::vector<std::string> strategies(argv + std::min(argc, 3), argv + argc);
        play_all(path, rounds, strategies.empty() ? icet_strategies() : strategies);
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}

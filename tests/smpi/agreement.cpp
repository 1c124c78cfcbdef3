// SPDX-License-Identifier: BSD-3-Clause
// Compares run times obtained by two methods: the executor itself over SimGrid's MPI, and
// simulation of the schedules that the executor runs. Both use the same network, with the same
// routes and losses, and the same programs. The times differ where the simulation misjudges what
// the executor does with its processor and messages.
#include "sextant/compositing/catalogue.hpp"
#include "sextant/core/error.hpp"
#include "sextant/simulate/platform.hpp"
#include "sextant/simulate/simulation.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace sextant::simulate {
namespace {

struct Case {
    std::string platform;
    int ranks;
    std::string algorithm;
    std::vector<int> radices = {};

    std::string configuration() const {
        return radices.empty() ? algorithm
                               : fmt::format("{} {}", algorithm, fmt::join(radices, ","));
    }
};

const std::vector<Case> cases = {
    {"crossbar-12-calibrated", 12, "shift-based"},
    {"crossbar-12-calibrated", 12, "direct-send"},
    {"crossbar-12-calibrated", 12, "radix-k", {4, 3}},
    {"fat-tree-144-calibrated", 16, "shift-based"},
    {"fat-tree-144-calibrated", 16, "direct-send"},
    {"fat-tree-144-calibrated", 16, "radix-k", {4, 4}},
    {"fat-tree-144-calibrated", 16, "binary-swap"},
    {"fat-tree-144-calibrated", 24, "shift-based"},
    {"fat-tree-144-calibrated", 24, "direct-send"},
    {"fat-tree-144-calibrated", 24, "radix-k", {12, 2}},
    {"torus-4x4x2", 16, "radix-k", {8, 2}},
    {"torus-4x4x2", 16, "binary-swap"},
    {"torus-4x4x2", 24, "direct-send"},
    {"torus-4x4x2", 24, "shift-based"},
};

void PrintTo(const Case& each, std::ostream* out) {
    *out << each.configuration() << " on " << each.ranks << " ranks of " << each.platform;
}

constexpr Elements pixels = 1 << 20;
constexpr Bytes pixel = 16;

std::string file_of(const std::string& platform) {
    return SEXTANT_SOURCE_DIR "/platforms/" + platform + ".json";
}

Seconds of_schedule(const Case& each, const Platform& platform) {
    const compositing::Algorithm& row = compositing::find(each.algorithm);
    compositing::Tuning tuning = row.tunings(each.ranks).front();
    if (!each.radices.empty())
        tuning.radices = each.radices;
    const auto task = compositing::one_image_each(each.ranks, pixels);
    const Schedule schedule = make_schedule(
        each.ranks, [&](int rank) { return compositing::program(row, task, tuning, rank); });
    return simulate({.schedule = schedule,
                     .platform = file_of(each.platform),
                     .element_size = pixel,
                     .costs = platform.costs,
                     .association = Association::by_arrival})
        .seconds;
}

/// Disables effects that SimGrid's MPI adds: factors by message size, timing of computations on
/// this machine, and eager sends. Polling takes one microsecond.
constexpr const char* settings =
    "--cfg=network/crosstraffic:0 --cfg=network/weight-S:0 --cfg=network/TCP-gamma:0 "
    "--cfg=smpi/bw-factor:0:1 --cfg=smpi/lat-factor:0:1 --cfg=smpi/simulate-computation:no "
    "--cfg=smpi/async-small-thresh:0 --cfg=smpi/send-is-detached-thresh:0 "
    "--cfg=smpi/test:1e-6 --cfg=smpi/grow-injected-times:no --log=root.thres:error";

std::string command(const Case& each, const Platform& platform, const std::string& hosts) {
    return fmt::format(
        "SEXTANT_PLATFORM={} {} -np {} -platform {} -hostfile {} {} --cfg=smpi/ois:0:{}:0 {} {} {} "
        "{} {} 2>&1",
        file_of(each.platform), SMPIRUN, each.ranks, SMPI_PLATFORM, hosts, settings,
        platform.costs.send_overhead, SMPI_RUN, each.algorithm,
        each.radices.empty() ? "-" : fmt::format("{}", fmt::join(each.radices, ",")), pixels,
        platform.costs.seconds_per_application);
}

Seconds of_executor(const Case& each, const Platform& platform) {
    const std::string hosts =
        std::filesystem::temp_directory_path() /
        fmt::format("sextant-smpi-{}-{}-{}", getpid(), each.platform, each.ranks);
    std::ofstream file(hosts);
    for (int rank = 0; rank < each.ranks; ++rank)
        file << platform.network.hosts[static_cast<std::size_t>(rank)] << '\n';
    file.close();
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> output(
        popen(command(each, platform, hosts).c_str(), "r"), pclose);
    std::string all;
    double seconds = 0;
    for (char line[256]; std::fgets(line, sizeof line, output.get());) {
        all += line;
        std::sscanf(line, "seconds %lf", &seconds);
    }
    std::filesystem::remove(hosts);
    if (seconds == 0)
        throw Error("smpirun told no time: " + all);
    return seconds;
}

class SimulatedSchedule : public testing::TestWithParam<Case> {};

TEST_P(SimulatedSchedule, takes_as_long_as_the_executor_over_simgrids_mpi) {
    const Case& each = GetParam();
    const Platform platform = read_platform(file_of(each.platform));
    const Seconds executor = of_executor(each, platform), schedule = of_schedule(each, platform);
    fmt::print("| {} | {} | {} | {:.2f} | {:.2f} | {:.3f} |\n", each.platform, each.ranks,
               each.configuration(), 1e3 * executor, 1e3 * schedule, schedule / executor);
    EXPECT_NEAR(schedule / executor, 1, .1);
}

INSTANTIATE_TEST_SUITE_P(Smpi, SimulatedSchedule, testing::ValuesIn(cases));

} // namespace
} // namespace sextant::simulate

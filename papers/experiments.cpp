// SPDX-License-Identifier: BSD-3-Clause
#include "papers/experiments.hpp"

#include "sextant/comm/launch.hpp"
#include "sextant/compositing/catalogue.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/child_process.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/temporary_files.hpp"
#include "sextant/core/text.hpp"
#include "sextant/machine/installation.hpp"
#include "sextant/machine/profile_file.hpp"
#include "sextant/simulate/platform.hpp"
#include "sextant/simulate/simulation.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <unistd.h>

namespace sextant::papers {

namespace {

constexpr std::array<std::string_view, 1> endings{".csv"};
constexpr machine::SharedFolder tables{"table", "papers/data", endings};

std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells(1);
    for (const char letter : line) {
        if (letter == ',')
            cells.emplace_back();
        else if (letter != '\r')
            cells.back() += letter;
    }
    return cells;
}

} // namespace

Table::Table(const std::string& name) : path_(machine::shared_file(tables, name)) {
    std::istringstream lines(read_text(path_, 1 << 20));
    std::string line;
    while (std::getline(lines, line)) {
        cells_.push_back(cells_of(line));
        if (cells_.back().size() != cells_.front().size()) {
            throw InvalidFile(path_, fmt::format("line {} has {} cells, expected {}", cells_.size(),
                                                 cells_.back().size(), cells_.front().size()));
        }
    }
    if (cells_.empty())
        throw InvalidFile(path_, "is empty");
}

const std::string& Table::text(std::size_t row, std::string_view column) const {
    const auto found = std::find(columns().begin(), columns().end(), column);
    if (found == columns().end())
        throw InvalidFile(path_, fmt::format("has no column '{}'", column));
    return cells_.at(row + 1)[static_cast<std::size_t>(found - columns().begin())];
}

std::optional<double> Table::number(std::size_t row, std::string_view column) const {
    const std::string& cell = text(row, column);
    if (cell.empty())
        return std::nullopt;
    double number = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), number);
    if (error != std::errc() || end != cell.data() + cell.size())
        throw InvalidFile(path_, fmt::format("{} is '{}', expected a number", column, cell));
    return number;
}

std::size_t Table::row_of(std::string_view first) const {
    for (std::size_t row = 0; row < rows(); ++row) {
        if (cells_[row + 1].front() == first)
            return row;
    }
    throw InvalidFile(path_, fmt::format("has no row '{}'", first));
}

machine::Profile machine_of_paper(const std::string& name) {
    return machine::read_profile(machine::shared_file(machine::machines, name));
}

Schedule compositing_schedule(const std::string& algorithm, int ranks, Elements pixels,
                              const std::vector<int>& radices) {
    const compositing::Algorithm& row = compositing::find(algorithm);
    const auto task = compositing::one_image_each(ranks, pixels);
    compositing::Tuning tuning;
    if (radices.empty())
        tuning = row.tunings(ranks).at(0);
    else
        tuning.radices = radices;
    return make_schedule(ranks,
                         [&](int rank) { return compositing::program(row, task, tuning, rank); });
}

simulate::Platform shipped_platform(const std::string& name) {
    return simulate::read_platform(machine::shared_file(simulate::platforms, name));
}

simulate::Simulation run(const Schedule& schedule, Bytes element_size, const Setting& setting,
                         const simulate::Platform& platform) {
    simulate::Question question{.schedule = schedule,
                                .platform = platform.name,
                                .element_size = element_size,
                                .active_by_round = setting.active_by_round,
                                .costs = platform.costs,
                                .association = setting.association,
                                .timeline = setting.timeline};
    if (!setting.order.empty())
        question.order =
            simulate::read_order(machine::shared_file(simulate::orders, setting.order));
    if (setting.blend_rate)
        question.costs.seconds_per_application = 1 / *setting.blend_rate;
    return simulate::simulate_on_clock(question, platform);
}

simulate::Simulation run(const Schedule& schedule, Bytes element_size, const Setting& setting) {
    return run(schedule, element_size, setting, shipped_platform(setting.platform));
}

simulate::Simulation run_on(const Schedule& schedule, Bytes element_size,
                            const simulate::Platform& platform, const Conditions& conditions) {
    return simulate::simulate_on_clock({.schedule = schedule,
                                        .platform = platform.name,
                                        .order = conditions.order,
                                        .element_size = element_size,
                                        .costs = platform.costs,
                                        .association = conditions.association,
                                        .timeline = conditions.timeline},
                                       platform);
}

Seconds composite(const std::string& algorithm, int ranks, Elements pixels, const Setting& setting,
                  const std::vector<int>& radices) {
    constexpr Bytes pixel = 16;
    return run(compositing_schedule(algorithm, ranks, pixels, radices), pixel, setting).seconds;
}

namespace {

/// The path of sextant-lab; empty if sextant-lab is not installed.
std::string laboratory() {
    for (const std::filesystem::path& folder : machine::installation().programs) {
        const std::filesystem::path path = folder / "sextant-lab";
        if (access(path.c_str(), X_OK) == 0)
            return path;
    }
    return "";
}

} // namespace

JsonField timed_by_lab(const LabRun& run) {
    const std::string program = laboratory(), mpi = mpi_of_build();
    if (mpi.empty())
        throw Error("Sextant was built without MPI");
    if (program.empty())
        throw Error("sextant-lab is not installed");
    if (detect_launcher().launcher != Launcher::none)
        throw Error("a process started by an MPI launcher cannot launch another one");
    const PrivateFolder folder;
    const std::string cases = folder.file("cases.json"), found = folder.file("found.json");
    write_file(cases, run.cases);
    constexpr Seconds patience = 120;
    run_process(fmt::format("env {} {} -n {} {} bench {} --cases {} --rounds {} --json={} 2>&1",
                            run.variables,
                            mpi.starts_with("MPICH") ? "mpiexec.hydra" : "mpirun --oversubscribe",
                            run.processes, shell_quoted(program), run.kind, shell_quoted(cases),
                            run.rounds, shell_quoted(found)),
                patience);
    return JsonField::read(found);
}

std::vector<Experiment> all_experiments() {
    std::vector<Experiment> all;
    for (const std::span<const Experiment> rows :
         {shift_based_counts,  shift_based_theory,  shift_based_cluster, shift_based_nodes,
          shift_based_routing, radix_k_paper,       radix_k_scaling,     radix_k_vectors,
          radix_k_sparse,      c3_definitions,      c3_charges,          c3_paper,
          c3_all_to_one,       c3_searches,         c3_contours,         p3pc_messages,
          p3pc_paper,          p3pc_here,           scan_papers,         operator_papers,
          equation_papers,     registration_papers, mpi_scan_papers,     work_stealing_paper}) {
        all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
}

std::optional<double> ratio(const Row& row) {
    if (!row.theirs || row.ours.empty())
        return std::nullopt;
    return row.ours.back() / *row.theirs;
}

std::string_view verdict(const Row& row) {
    const std::optional<double> found = ratio(row);
    if (!found)
        return "";
    constexpr double most = 1.25, rounding = 5e-3;
    bool agrees = *found <= most && *found * most >= 1;
    if (row.match == Match::count)
        agrees = std::abs(*found - 1) <= rounding;
    else if (row.match == Match::at_most)
        agrees = *found <= 1 + rounding;
    return agrees ? "agrees" : "differs";
}

std::string_view name(Basis basis) {
    return basis == Basis::printed  ? "printed numbers"
           : basis == Basis::fitted ? "fitted"
                                    : "own evaluation";
}

Result result_of(const Experiment& experiment, Extent::Kind extent) {
    bool selects = false;
    Result result = experiment.run({extent, &selects});
    for (Row& row : result.rows)
        row.match = row.match.value_or(experiment.match);
    for (Claim& claim : result.claims) {
        if (selects)
            claim =
                unknown(claim.text, "only some of the cases were computed; --whole computes all");
    }
    return result;
}

} // namespace sextant::papers

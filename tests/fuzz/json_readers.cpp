// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fuzz/json_readers.hpp"

#include "sextant/command/commands.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/register/result_folder.hpp"
#include "sextant/command/schedules/placement.hpp"
#include "sextant/command/series/transforms.hpp"
#include "sextant/compositing/catalogue.hpp"
#include "sextant/core/error.hpp"
#include "sextant/filter/filter_plan.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/manifest.hpp"
#include "sextant/lab/bench_cases.hpp"
#include "sextant/lab/bench_collective.hpp"
#include "sextant/lab/bench_filter.hpp"
#include "sextant/lab/bench_scan.hpp"
#include "sextant/lab/catalogue.hpp"
#include "sextant/lab/tune_choice.hpp"
#include "sextant/lab/tune_launch.hpp"
#include "sextant/machine/profile_file.hpp"
#include "sextant/planner/compositing_plan.hpp"
#include "sextant/planner/planner.hpp"
#include "sextant/scan/operator_times.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

#include "tests/format/fixtures.hpp"
#include "tests/format/images.hpp"

namespace sextant::test {

namespace {

constexpr Elements small_image = 1 << 16;

/// Errors in the input are sextant::Error.
void attempt(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error&) {
        return;
    }
}

/// Runs a command without printing anything.
void run(const command::Operation& operation,
         const std::map<std::string, std::vector<std::string>>& given) {
    const command::PrintedText unprinted;
    attempt([&] { command::run_command(operation, given); });
}

std::string in_folder_of(const std::string& path, const char* name) {
    return (std::filesystem::path(path).parent_path() / name).string();
}

void use_manifest(const std::string& path) {
    attempt([&] { format::read_manifest_header(path); });
    attempt([&] {
        const format::Partials partials = format::read_manifest(path);
        const ImageShape shape = partials.shape;
        if (shape.elements() > small_image)
            return;
        Image image(shape, partials.element);
        for (const int i : partials.order)
            format::read_pixels(partials.paths.at(static_cast<std::size_t>(i)), partials.header(),
                                image.bytes());
    });
}

void use_compositing_plan(const std::string& path, int ranks) {
    const planner::CompositingPlan plan = planner::read_plan(path);
    const compositing::Configuration& configuration = plan.configuration;
    planner::choose_by_name(std::string(configuration.algorithm->name), configuration.tuning,
                            ranks);
    const compositing::Task task = compositing::one_image_each(ranks, 1000, 0);
    for (int rank = 0; rank < ranks; ++rank)
        compositing::program(*configuration.algorithm, task, configuration.tuning, rank);
    planner::parse_plan(planner::to_json(plan), path);
}

void use_plan(const std::string& path) {
    for (const int ranks : {1, 8, 12})
        attempt([&] { use_compositing_plan(path, ranks); });
    const distributed::Filter filter{.sigma = 1, .features = {"x"}, .border = {}};
    for (const Elements depth : {0, 20}) {
        const distributed::FilterTask task{
            .filters = {filter}, .image = {40, 30}, .ranks = 8, .depth = depth};
        attempt([&] { distributed::read_filter_plan(path, task); });
    }
}

void use_machine(const std::string& path) {
    attempt([&] {
        const machine::Profile profile = machine::read_profile(path);
        if (machine::parse_profile(machine::profile_text(profile), path) != profile)
            throw std::logic_error("a profile differs after it was written and read");
    });
    attempt([&] { machine::read_launches(path); });
    attempt([&] {
        constexpr int ranks = 4;
        command::KnownMachine known = command::known_machine(path, ranks);
        planner::Planner planner(std::move(known.profile), std::move(known.wires));
        planner.plan(compositing::one_image_each(ranks, 10000, 0), {.operator_name = "over",
                                                                    .element_name = "f32",
                                                                    .element_size = 16,
                                                                    .nodes = known.nodes});
    });
    run(command::machine_operation(), {{"what", {"show"}}, {"files", {path}}});
    run(command::machine_operation(), {{"what", {"diff"}}, {"files", {path, path}}});
    run(command::predict_operation(),
        {{"machine", {path}}, {"ranks", {"6"}}, {"report", {in_folder_of(path, "page.html")}}});
    run(command::simulate_operation(),
        {{"platform", {path}}, {"ranks", {"6"}}, {"elements", {"1000"}}, {"clock", {"true"}}});
    // The same file as a profile of the costs of combining and copying.
    const std::string crossbar = in_folder_of(path, "crossbar.json");
    run(command::simulate_operation(), {{"platform", {crossbar}},
                                        {"machine", {path}},
                                        {"ranks", {"3"}},
                                        {"elements", {"1000"}},
                                        {"clock", {"true"}}});
}

void use_trace(const std::string& path) {
    for (const char* output : {"page.html", "chart.svg"})
        run(command::report_operation(),
            {{"traces", {path}}, {"output", {in_folder_of(path, output)}}});
}

void use_transforms(const std::string& path) {
    run(command::apply_operation(), {{"transforms", {path}},
                                     {"data", {in_folder_of(path, "frames.npy")}},
                                     {"memory", {"16M"}},
                                     {"output", {in_folder_of(path, "aligned.npy")}}});
    for (const char* reverse : {"true", "false"})
        run(command::apply_operation(), {{"transforms", {path}},
                                         {"data", {in_folder_of(path, "points.csv")}},
                                         {"from_reference", {reverse}},
                                         {"output", {in_folder_of(path, "moved.csv")}}});
    command::results_of_earlier_run(std::filesystem::path(path).parent_path().string());
}

void use_times(const std::string& path) {
    scan::Distribution distribution;
    distribution.kind = scan::Distribution::Kind::recorded;
    distribution.times = scan::read_times(path);
    scan::Draws(distribution, 10, 1).serial();
}

void use_cases(const std::string& path) {
    attempt([&] { lab::read_composite_cases(path); });
    attempt([&] { lab::read_collective_cases(path); });
    attempt([&] { lab::read_filter_cases(path); });
    attempt([&] { lab::read_scan_cases(path); });
    attempt([&] { use_times(path); });
}

void use_results(const std::string& path) {
    run(lab::evaluate_operation(), {{"judge", {path}}, {"map", {in_folder_of(path, "map.svg")}}});
    run(lab::evaluate_operation(), {{"judge", {path, path}}});
    attempt([&] {
        const std::vector<lab::TuneLaunch> launches(2, lab::read_launch(path));
        std::vector<lab::TunedRule> rules = lab::choose_rules(launches, false);
        lab::verify_rules(rules, launches, launches);
    });
}

void use_schedule(const std::string& path) {
    run(command::prove_operation(), {{"family", {path}}});
    run(command::draw_operation(), {{"family", {path}}, {"output", {in_folder_of(path, "s.svg")}}});
    run(command::draw_operation(),
        {{"family", {path}}, {"output", {in_folder_of(path, "s.json")}}});
    run(command::predict_operation(),
        {{"family", {path}}, {"machine", {in_folder_of(path, "crossbar.json")}}});
    run(command::simulate_operation(), {{"family", {path}},
                                        {"platform", {in_folder_of(path, "crossbar.json")}},
                                        {"clock", {"true"}}});
}

struct JsonKind {
    std::string_view name;
    void (*use)(const std::string& path);
};

constexpr JsonKind kinds[] = {{"manifest", use_manifest},     {"plan", use_plan},
                              {"machine", use_machine},       {"trace", use_trace},
                              {"transforms", use_transforms}, {"cases", use_cases},
                              {"results", use_results},       {"schedule", use_schedule}};

} // namespace

void write_files_named_in_json(const TemporaryFolder& folder) {
    const ImageShape shape{13, 7};
    for (const char* name : {"partial_0.rgba32f.zst", "partial_1.rgba32f.zst", "a.exr", "b.png"})
        format::write_image(folder.path(name), gradient(shape, rgba_f32));
    const auto zeros = [](std::size_t numbers) { return std::string(4 * numbers, '\0'); };
    fill_file(folder.path("fields.npy"), npy_bytes("<f4", false, "8, 3, 4", zeros(96)));
    fill_file(folder.path("rows.npy"), npy_bytes("<f4", false, "2, 16, 3", zeros(96)));
    fill_file(folder.path("frames.npy"), npy_bytes("<f4", false, "3, 16, 20", zeros(960)));
    fill_file(folder.path("crossbar.json"), R"({"version": 1, "name": "crossbar", "source": "none",
        "network": {"shape": "crossbar", "hosts": 4},
        "links": {"bytes_per_second": 1e9, "latency": 1e-6}})");
    fill_file(folder.path("points.csv"), "frame,x,y\n0,3,4\n2,19,15.5\n");
}

void read_json_of(std::string_view kind, const std::string& path) {
    for (const JsonKind& each : kinds) {
        if (each.name == kind)
            return each.use(path);
    }
    throw std::logic_error("no kind of JSON file: " + std::string(kind));
}

} // namespace sextant::test

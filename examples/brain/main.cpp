// SPDX-License-Identifier: BSD-3-Clause
// render_bricks: renders a head brick by brick, as parallel processes would, into partial images to
// composite.
#include "sextant/core/error.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/manifest.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <future>
#include <optional>
#include <thread>
#include <vector>

#include "render.hpp"
#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace {

using namespace brain;
using sextant::InvalidTask;
using sextant::format::Partials;

constexpr int failure = 1, usage_error = 2;

struct Options {
    std::string volume, brain, folder;
    std::vector<int> bricks{2, 2, 2};
    std::vector<int> size{512, 512};
    double azimuth = 65, elevation = 14;
    std::optional<int> only;
    bool whole = false;
};

void declare(CLI::App& command, Options& options) {
    command.description(
        "Cuts a NIfTI volume into bricks and renders each of them: one partial image per "
        "brick,\nand a manifest with the visibility order of the images.");
    command.footer("\nExample, with the volumes of the Debian package mricron-data:\n"
                   "  render_bricks --volume ch2.nii.gz --brain ch2bet.nii.gz -o head\n"
                   "  sextant composite head/manifest.json -o head.png");
    command.add_option("--volume", options.volume, "Volume of the head, a .nii or .nii.gz file")
        ->required()
        ->type_name("FILE");
    command
        .add_option("--brain", options.brain,
                    "The same volume without the skull, to show the brain")
        ->type_name("FILE");
    command.add_option("--bricks", options.bricks, "Number of bricks along each axis")
        ->delimiter('x')
        ->type_size(3)
        ->expected(1)
        ->type_name("AxBxC")
        ->default_str("2x2x2");
    command
        .add_option("--size", options.size,
                    "Width and height of each image in pixels, up to 8192x8192")
        ->delimiter('x')
        ->type_size(2)
        ->expected(1)
        ->check(CLI::Range(1, 8192).description(""))
        ->type_name("WxH")
        ->default_str("512x512");
    command
        .add_option("--azimuth", options.azimuth,
                    "Azimuth of the viewer: 0 shows the face, 90 the right ear")
        ->type_name("DEGREES")
        ->capture_default_str();
    command
        .add_option("--elevation", options.elevation, "Elevation of the viewer, between -90 and 90")
        ->type_name("DEGREES")
        ->capture_default_str();
    command
        .add_option("--only", options.only, "Render only this brick; the manifest lists all bricks")
        ->type_name("I");
    command.add_flag("--whole", options.whole, "Also render the whole volume, as whole.exr");
    command.add_option("-o,--output", options.folder, "Folder for the images and the manifest")
        ->required()
        ->type_name("FOLDER");
}

struct Job {
    Box box;
    std::string path;
};

/// The images to render. That of the whole volume comes first, since it takes longest.
std::vector<Job> jobs_of(const Options& options, const Bricks& bricks, const Partials& partials) {
    std::vector<Job> jobs;
    if (options.whole)
        jobs.push_back({bricks.whole(), options.folder + "/whole.exr"});
    for (int i = 0; i < bricks.count(); ++i) {
        if (options.only.value_or(i) == i)
            jobs.push_back({bricks.brick(i), partials.paths[static_cast<std::size_t>(i)]});
    }
    return jobs;
}

/// Renders all jobs with one thread per core. Rethrows the exception of a job.
void draw(const std::vector<Job>& jobs, const Scene& scene, const Camera& camera,
          sextant::ImageShape shape) {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t i = next++; i < jobs.size(); i = next++) {
            sextant::format::write_image(jobs[i].path, render(scene, camera, shape, jobs[i].box));
        }
    };
    const auto cores = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::future<void>> workers;
    for (std::size_t i = 0; i < std::min<std::size_t>(cores, jobs.size()); ++i)
        workers.push_back(std::async(std::launch::async, work));
    for (auto& worker : workers)
        worker.get();
}

Scene read_scene(const Options& options) {
    const Volume head = read_volume(options.volume);
    if (options.brain.empty())
        return Scene(head);
    return Scene(head, read_volume(options.brain));
}

void make_folder(const std::string& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        throw sextant::InvalidFile(folder, "cannot be created: " + error.message());
}

void run(const Options& options) {
    const auto start = std::chrono::steady_clock::now();
    const Scene scene = read_scene(options);
    const Bricks bricks(scene.head(), {options.bricks[0], options.bricks[1], options.bricks[2]});
    if (options.only && (*options.only < 0 || *options.only >= bricks.count())) {
        throw InvalidTask(fmt::format("--only is {}, expected a brick from 0 to {}", *options.only,
                                      bricks.count() - 1));
    }
    const Camera camera = look_at(scene.head(), options.azimuth, options.elevation);
    Partials partials{{options.size[0], options.size[1]},
                      sextant::rgba_f32,
                      {},
                      bricks.front_to_back(camera.eye)};
    for (int i = 0; i < bricks.count(); ++i)
        partials.paths.push_back(fmt::format("{}/partial_{}.rgba32f.zst", options.folder, i));
    make_folder(options.folder);
    const auto jobs = jobs_of(options, bricks, partials);
    draw(jobs, scene, camera, partials.shape);
    const std::string manifest = options.folder + "/manifest.json";
    sextant::format::write_manifest(manifest, partials);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    fmt::print("{}: {} of {} images of {}x{} drawn in {:.1f} s\n", manifest, jobs.size(),
               bricks.count() + (options.whole ? 1 : 0), options.size[0], options.size[1],
               taken.count());
}

int fail(const std::exception& error, int code) {
    fmt::print(stderr, "render_bricks: {}\n", error.what());
    return code;
}

} // namespace

int main(int count, char** arguments) {
    CLI::App command;
    Options options;
    declare(command, options);
    try {
        command.parse(count, arguments);
        run(options);
    } catch (const CLI::Success& help) {
        return command.exit(help);
    } catch (const CLI::ParseError& error) {
        return fail(error, usage_error);
    } catch (const InvalidTask& error) {
        return fail(error, usage_error);
    } catch (const std::exception& error) {
        return fail(error, failure);
    }
}

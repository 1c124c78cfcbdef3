// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/command/operation.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/row_source.hpp"
#include "sextant/core/units.hpp"
#include "sextant/distributed/merging_plan.hpp"
#include "sextant/format/frame_catalogue.hpp"
#include "sextant/planner/planner.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What commands have in common that cut one image into tiles over ranks.
namespace sextant::command {

Parameter frame_parameter();
Parameter channel_parameter();
Parameter slice_parameter();
Parameter external_parameter();
Parameter ranks_parameter();
Parameter grid_parameter();
Parameter machine_parameter();
Parameter json_parameter();
Parameter report_parameter();
Parameter memory_parameter(std::string_view mebibytes, std::string_view help);

/// How a command reads its series.
format::SourceOptions source_options(const Values& values);

/// The image of a command, its `frame` of a series. Throws InvalidFile, InvalidTask.
std::unique_ptr<RowSource> open_image(const Values& values, ReadAs read_as = ReadAs::floats);

/// The files that such a command reads: those of its image, and a profile that was named.
std::vector<std::string> files_read(const Values& values);

/// Runs `body` on every rank: those of the launcher, else threads: --ranks, a tile of --grid each,
/// or one a core.
void launch_tiles(const Values& values, const std::function<void(Communicator)>& body);

/// That of --grid. Throws InvalidTask unless it has as many tiles as there are ranks.
Grid grid_asked_for(const Values& values, ImageShape image, int ranks);
/// That of --grid, or nearly square.
Grid grid_of(const Values& values, ImageShape image, int ranks);

/// Says how a run went: warnings, what ran as JSON where --json asks for it, the page where
/// --report does, and the text unless standard output has one of these. Throws InvalidFile.
void tell_run(const Values& values, std::span<const std::string> warnings, const std::string& json,
              const std::string& text, const std::string& page);

/// Adds the time of what it does.
template <class Work>
void timed(Seconds& sum, Work&& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    sum += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace sextant::command

// Options of all commands that plan.
namespace sextant::command {

/// `--no-probe`, and what it says.
Parameter no_probe_parameter();
planner::Probing probing_of(const Values& values);

/// `--shared-memory`: whether processes of a node read each other's memory.
Parameter shared_memory_parameter();

/// `--pattern`: in which order tiles are merged, and what goes with it: --machine, --no-probe,
/// --report.
Parameter pattern_parameter();
distributed::MergingRequest merging_request(const Values& values);

struct ImageSize {
    Elements width = 0, height = 0;
};

/// "1920x1080", or "1024" for a square. Throws InvalidTask, naming the option.
ImageSize image_size(std::string_view option, const std::string& text);

/// The most ranks that are threads of one process.
inline constexpr int most_threads = 1024;

/// Runs `body` on every rank: those of the launcher, else so many threads.
/// Throws AgreedFailure where a launcher started another number than the option asks for, or gave
/// ranks different options.
void launch_ranks(const Values& values, int threads, const std::function<void(Communicator)>& body,
                  const char* option = "ranks");

/// The same on as many threads as the option says, else one a core.
void launch_ranks_or_cores(const Values& values, const std::function<void(Communicator)>& body,
                           const char* option = "ranks");

} // namespace sextant::command

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/command/operation.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/row_source.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/core/units.hpp"
#include "sextant/distributed/merging_plan.hpp"
#include "sextant/format/frame_catalogue.hpp"
#include "sextant/planner/planner.hpp"

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Options and helpers of commands that divide an image into tiles.
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

/// Options for reading a series.
format::SourceOptions source_options(const Values& values);

/// Opens the input image, for a series its `frame`. Throws InvalidFile, InvalidTask.
std::unique_ptr<RowSource> open_image(const Values& values, ReadAs read_as = ReadAs::floats);

/// The files that such a command reads: its image, and a profile if named.
std::vector<std::string> files_read(const Values& values);

/// Runs `body` on every rank: those of the launcher, else as threads: as many as --ranks says, one
/// per tile of --grid, or one per core.
void launch_tiles(const Values& values, const std::function<void(Communicator)>& body);

/// The grid of --grid. Throws InvalidTask unless it has as many tiles as there are ranks.
Grid grid_asked_for(const Values& values, ImageShape image, int ranks);
/// The grid of --grid, or a nearly square one.
Grid grid_of(const Values& values, ImageShape image, int ranks);

/// Runs a part of a command. If it throws AgreedFailure with a text that begins with one of these
/// fields of the library's options, the text names the command's option: "--by-value" for by_value.
void naming_options(const Record& options, const std::function<void()>& part);

/// Prints warnings; prints the JSON with --json, writes the page with --report, and prints the text
/// unless one of these goes to standard output. Throws InvalidFile.
void tell_run(const Values& values, std::span<const std::string> warnings, const std::string& json,
              const std::string& text, const std::string& page);

// Declared options that several commands share.

/// What a run writes besides its results; "-" is standard output, "" nothing.
struct Reports {
    std::string json, report;
};
/// `--json [FILE]`.
Field& declare_json(Record& record, std::string& json);
/// `--json [FILE]` and `--report FILE`.
Record record_of(Reports& reports);
/// Prints warnings; writes the JSON and the page asked for, and prints the text unless one of these
/// goes to standard output. Throws InvalidFile.
void write_reports(const Reports& reports, std::span<const std::string> warnings,
                   const std::string& json, const std::string& text, const std::string& page);

/// An image file, or one frame of a series.
struct SourceChoice {
    std::string image;
    std::optional<std::int64_t> frame, channel, slice; ///< from 0
    bool allow_external = false;

    format::SourceOptions options() const;
};
/// `IMAGE`, with this meaning, and `--frame`, `--channel`, `--slice`, `--allow-external`.
Record record_of(SourceChoice& source, std::string_view meaning);
/// Opens the image, for a series its frame. Throws InvalidFile, InvalidTask.
std::unique_ptr<RowSource> open_image(const SourceChoice& source, ReadAs read_as = ReadAs::floats);

/// The files of the image, and the profile if named.
std::vector<std::string> files_read(const SourceChoice& source, const std::string& machine);

/// Runs `body` on every rank: those of the launcher, else as threads: as many as `--ranks` says,
/// one per tile of `--grid`, or one per core. The command has both options.
void launch_tiles(const Call& call, const std::optional<Tiles>& grid,
                  const std::function<void(Communicator)>& body);

/// Replaces the field "probe" by the flag `--no-probe`.
void offer_no_probe(Record& record, planner::Probing& probing);

/// `--ranks` for threads of this process.
Field& declare_ranks(Record& record, std::optional<std::int64_t>& ranks, std::string_view usual);

/// `--shared-memory`: processes of a node read each other's memory.
Field& declare_shared_memory(Record& record, std::string& when);

/// Runs `body` on every rank: those of the launcher, else as many threads as given. Throws
/// AgreedFailure if a launcher started another number of ranks than the option says, or ranks have
/// different options.
void launch_ranks(const Call& call, int threads, const std::function<void(Communicator)>& body,
                  const char* option = "ranks");

/// The same with as many threads as the option says, or one per core.
void launch_ranks_or_cores(const Call& call, const std::function<void(Communicator)>& body,
                           const char* option = "ranks");

// Options of all commands that plan.

/// `--no-probe` and its value.
Parameter no_probe_parameter();
planner::Probing probing_of(const Values& values);

/// `--shared-memory`: processes of a node read each other's memory.
Parameter shared_memory_parameter();

/// `--pattern`: the pattern that merges tiles. The request also takes --machine, --no-probe and
/// --report.
Parameter pattern_parameter();
distributed::MergingRequest merging_request(const Values& values);

struct ImageSize {
    Elements width = 0, height = 0;
};

/// Parses "1920x1080", or "1024" for a square. Throws InvalidTask, naming the option.
ImageSize image_size(std::string_view option, const std::string& text);

/// The most ranks that may be threads of one process.
inline constexpr int most_threads = 1024;

/// Runs `body` on every rank: those of the launcher, else as many threads as given. Throws
/// AgreedFailure if a launcher started another number of ranks than the option says, or ranks have
/// different options.
void launch_ranks(const Values& values, int threads, const std::function<void(Communicator)>& body,
                  const char* option = "ranks");

/// The same with as many threads as the option says, or one per core.
void launch_ranks_or_cores(const Values& values, const std::function<void(Communicator)>& body,
                           const char* option = "ranks");

} // namespace sextant::command

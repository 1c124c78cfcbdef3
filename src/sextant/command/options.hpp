// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/row_source.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/command/operation.hpp"
#include "sextant/contours/merging_plan.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/units.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/planner/planner.hpp"
#include "sextant/report/page.hpp"

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Options and helpers that several commands share.
namespace sextant::command {

/// Outputs of a run besides its results; "-" means standard output, and "" means no output.
struct Reports {
    std::string json, report;
};
/// Declares `--json[=FILE]`.
Field& declare_json(Record& record, std::string& json);
/// Declares `--json[=FILE]` and `--report FILE`.
Record record_of(Reports& reports);
/// Prints warnings; writes the JSON and the page if requested, and prints the text unless one of
/// these goes to standard output. Throws InvalidFile.
void write_reports(const Reports& reports, std::span<const std::string> warnings,
                   const std::string& json, const std::string& text, const std::string& page);

/// The first fields of the results of a command: its name and the version of Sextant.
Record results_of(std::string_view operation);
/// The last fields of the results of a run: its warnings, the host and the date.
Record provenance_of_run(const std::vector<std::string>& warnings);
/// The same as the last facts on a page.
void add_provenance(std::vector<report::Fact>& facts, const std::vector<std::string>& warnings);
/// A line with the times of phases: "read 1.5 ms  filter 20.1 ms (predicted 18.0)  write 0.2 ms".
std::string phases_text(const std::vector<report::Phase>& phases);
Json seconds_of(const std::vector<report::Phase>& phases);
/// "2 ranks of threads".
std::string ranks_text(int ranks, std::string_view transport);

/// Declares the required option `--output`.
void declare_output(Record& record, std::string& output, std::string_view value_name,
                    std::string_view meaning);

/// An image file, or one frame of a series.
struct SourceChoice {
    std::string image;
    std::optional<std::int64_t> frame, channel, slice, time; ///< counted from 0
    std::string axes;                                        ///< names; "" if not stated
    bool allow_external = false;

    format::SourceOptions options(const ScratchPlace& copy = {}) const;
};
/// Declares `IMAGE`, described by `meaning`, and `--frame`, `--channel`, `--slice`, `--time`,
/// `--axes`, `--allow-external`.
Record record_of(SourceChoice& source, std::string_view meaning);
/// Opens the image, or the chosen frame of a series. Throws InvalidFile, InvalidTask.
std::unique_ptr<RowSource> open_image(const SourceChoice& source, ReadAs read_as = ReadAs::floats);
/// As open_image(), but a series of several frames of which none is chosen is a volume.
std::unique_ptr<RowSource> open_image_or_volume(const SourceChoice& source);

/// Opens a series on every rank by `open`, which takes options of the series with the copy that
/// they contain. A compressed file is decompressed once on each node, on the node's first rank.
/// Returns null if `open` does. Collective; throws AgreedFailure.
std::unique_ptr<FrameSource>
open_on_ranks(const Communicator& communicator,
              const std::function<std::unique_ptr<FrameSource>(const ScratchPlace& copy)>& open);

/// The files from which a series is read, which outputs must not replace. If one of the outputs is
/// there already, this includes the files to which those of the series refer.
std::vector<std::string> files_of_series(const std::string& name,
                                         const format::SourceOptions& options,
                                         std::span<const std::string> outputs);
/// The files that a command reads: those of the image, and the machine profile if one is named.
std::vector<std::string> files_read(const SourceChoice& source, const std::string& machine,
                                    std::span<const std::string> outputs);

/// Runs `body` on every rank: on the processes of the launcher, or else on threads, whose number is
/// given by `--ranks`, else by the tiles of `--grid`, else by the cores. Requires a command with
/// both options.
void launch_tiles(const Call& call, const std::optional<Tiles>& grid,
                  const std::function<void(Communicator)>& body);

/// The effect of `--allow-external`: only on files whose formats can refer to other files.
Effect effect_of_external(std::vector<std::string> inputs);

/// Declares `--zarr`, the version of a store that is written.
void declare_zarr(Record& record, int& version);
/// `--zarr` has an effect only if `output` is a store of Zarr.
Effect effect_of_zarr(const std::string& output);

/// Replaces the field "probe" by the flag `--no-probe`.
void offer_no_probe(Record& record, planner::Probing& probing);

/// True if the option `--plan` names a file that exists, whose plan is used.
bool is_saved(const std::string& plan);

/// The effects of `--no-probe` of a command that takes `--machine`.
Effects effects_of_planning(const std::string& machine);
/// True if --ranks or --grid states that there is one rank.
bool is_one_rank(const std::optional<std::int64_t>& ranks, const std::optional<Tiles>& grid);

/// The effects of `--pattern`, `--machine` and `--no-probe` of a command that merges tiles.
Effects effects_of_merging(const distributed::MergingOptions& merging,
                           const std::optional<std::int64_t>& ranks,
                           const std::optional<Tiles>& grid);

/// Declares `--ranks`, the number of threads of this process; `usual` describes the default.
Field& declare_ranks(Record& record, std::optional<std::int64_t>& ranks, std::string_view usual);

/// Declares `--shared-memory`, which lets processes of a node read each other's memory.
Field& declare_shared_memory(Record& record, std::string& when);

/// Runs `body` on every rank of the launcher, or else on the given number of threads. Throws
/// AgreedFailure if a launcher started a different number of ranks than the option named `option`
/// states, or if ranks have different arguments or options.
void launch_ranks(const Call& call, int threads, const std::function<void(Communicator)>& body,
                  const char* option = "ranks");

/// Runs `body` as launch_ranks does. The number of threads is the value of the option named
/// `option`; if it is not given, the number of cores.
void launch_ranks_or_cores(const Call& call, const std::function<void(Communicator)>& body,
                           const char* option = "ranks");

/// Runs a part of a command. If it throws AgreedFailure or InvalidTask with a text that begins with
/// the name of one of these fields, or with the number of a rank and then this name, the name is
/// replaced by that of the command-line option: "by_value" by "--by-value".
void naming_options(const Record& options, const std::function<void()>& part);

/// Runs a part of a command. If it throws AgreedFailure because of data (InvalidData), with a text
/// that does not name this file, the name is added.
void naming_data(const std::string& file, const std::function<void()>& part);

/// The maximum number of ranks that are threads of one process.
inline constexpr int most_threads = 1024;

} // namespace sextant::command

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

/// Outputs of a run other than its results; "-" means standard output, and "" means no output.
struct Reports {
    std::string json, report;
};
/// Declares `--json[=FILE]`.
Field& declare_json(Record& record, std::string& json);
/// Declares `--json[=FILE]` and `--report FILE`.
Record record_of(Reports& reports);
/// Prints warnings, and writes the JSON and the page if requested. Prints the text unless the JSON
/// or the page goes to standard output. Throws InvalidFile.
void write_reports(const Reports& reports, std::span<const std::string> warnings,
                   const std::string& json, const std::string& text, const std::string& page);

/// Returns the first fields of a command's results: its name and the version of Sextant.
Record results_of(std::string_view operation);
/// Returns the last fields of a run's results: its warnings, the host and the date.
Record provenance_of_run(const std::vector<std::string>& warnings);
/// Adds the warnings, the host and the date as the last facts on a page.
void add_provenance(std::vector<report::Fact>& facts, const std::vector<std::string>& warnings);
/// Returns a line with the times of phases: "read 1.5 ms  filter 20.1 ms (predicted 18.0)  write
/// 0.2 ms".
std::string phases_text(const std::vector<report::Phase>& phases);
Json seconds_of(const std::vector<report::Phase>& phases);
/// Returns "2 ranks of threads".
std::string ranks_text(int ranks, std::string_view transport);

/// Declares the required option `--output`.
void declare_output(Record& record, std::string& output, std::string_view value_name,
                    std::string_view meaning);

/// An image file, or one frame of a series.
struct SourceChoice {
    std::string image;
    std::optional<std::int64_t> frame, channel, slice, time; ///< counted from 0
    std::string axes;                                        ///< axis names; "" if not stated
    bool allow_external = false;

    format::SourceOptions options(const ScratchPlace& copy = {}) const;
};
/// Declares `IMAGE`, described by `meaning`, and `--frame`, `--channel`, `--slice`, `--time`,
/// `--axes`, `--allow-external`.
Record record_of(SourceChoice& source, std::string_view meaning);
/// Opens the image, or the selected frame of a series. Throws InvalidFile, InvalidTask.
std::unique_ptr<RowSource> open_image(const SourceChoice& source, ReadAs read_as = ReadAs::floats);
/// The same as open_image(), but opens a series of several frames as a volume if no frame is
/// selected.
std::unique_ptr<RowSource> open_image_or_volume(const SourceChoice& source);

/// Opens a series on every rank by calling `open`, which must pass `copy` on as an option of the
/// series (SourceOptions). A compressed file is decompressed once per node, on the node's first
/// rank. Returns null if `open` does. Collective; throws AgreedFailure.
std::unique_ptr<FrameSource>
open_on_ranks(const Communicator& communicator,
              const std::function<std::unique_ptr<FrameSource>(const ScratchPlace& copy)>& open);

/// Returns the files from which a series is read and which outputs must not replace. If an output
/// already exists, the list includes the files to which the series refers.
std::vector<std::string> files_of_series(const std::string& name,
                                         const format::SourceOptions& options,
                                         std::span<const std::string> outputs);
/// Returns the files that a command reads: the image's and, if one is named, the machine profile.
std::vector<std::string> files_read(const SourceChoice& source, const std::string& machine,
                                    std::span<const std::string> outputs);

/// Runs `body` on every rank: on the processes of the launcher, or else on threads. The number of
/// threads is given by `--ranks`, else by the tiles of `--grid`, else by the number of cores.
/// Requires a command with both options.
void launch_tiles(const Call& call, const std::optional<Tiles>& grid,
                  const std::function<void(Communicator)>& body);

/// Returns the effect of `--allow-external`: only on files whose formats can refer to other files.
Effect effect_of_external(std::vector<std::string> inputs);

/// Declares `--zarr`, the Zarr version of stores to write.
void declare_zarr(Record& record, int& version);
/// Returns the effect of `--zarr`: only if `output` is a Zarr store.
Effect effect_of_zarr(const std::string& output);

/// Replaces the field "probe" by the flag `--no-probe`.
void offer_no_probe(Record& record, planner::Probing& probing);

/// Returns true if the option `--plan` names an existing file, whose plan is then used.
bool is_saved(const std::string& plan);

/// Replaces the option "probe" by `--no-probe`.
Effects with_no_probe(Effects effects);
/// Returns true if --ranks or --grid specifies one rank.
bool is_one_rank(const std::optional<std::int64_t>& ranks, const std::optional<Tiles>& grid);

/// Returns the effect of `--pattern`, `--machine` and `--no-probe`: only with several ranks, for a
/// command that merges tiles.
Effect effect_of_merging(const std::optional<std::int64_t>& ranks,
                         const std::optional<Tiles>& grid);

/// Declares `--ranks`, the number of threads of this process; `usual` describes the default.
Field& declare_ranks(Record& record, std::optional<std::int64_t>& ranks, std::string_view usual);

/// Declares `--shared-memory`, which lets processes of a node read each other's memory.
Field& declare_shared_memory(Record& record, std::string& when);

/// Runs `body` on every rank of the launcher, or else on the given number of threads. Throws
/// AgreedFailure if the launcher started a different number of ranks than the option named `option`
/// specifies, or if ranks have different arguments or options.
void launch_ranks(const Call& call, int threads, const std::function<void(Communicator)>& body,
                  const char* option = "ranks");

/// Runs `body` as launch_ranks() does. The number of threads is the value of the option named
/// `option`, or else the number of cores.
void launch_ranks_or_cores(const Call& call, const std::function<void(Communicator)>& body,
                           const char* option = "ranks");

/// Runs a part of a command. If `part` throws AgreedFailure or InvalidTask with a text that begins
/// with the name of a field (possibly after "rank N: "), replaces the name with that of the
/// command-line option: "by_value" with "--by-value".
void naming_options(const Record& options, const std::function<void()>& part);

/// Runs a part of a command. If `part` throws AgreedFailure because of invalid data (InvalidData)
/// and the text does not name `file`, adds the name.
void naming_data(const std::string& file, const std::function<void()>& part);

/// The maximum number of ranks that are threads of one process.
inline constexpr int most_threads = 1024;

} // namespace sextant::command

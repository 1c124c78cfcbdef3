// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/options.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/comm/waiting.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/referred_files.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::command {

namespace {

/// Returns the command-line option that sets a field.
std::string option_of(std::string name) {
    std::replace(name.begin(), name.end(), '_', '-');
    return "--" + name;
}

/// Replaces the names of fields by the names of options in a text that begins with the name of a
/// field, possibly after the number of a rank: "rank 0: memory ...".
std::string with_options(const Record& options, const std::string& text) {
    std::size_t first = 0;
    if (text.starts_with("rank ")) {
        const std::size_t end = text.find_first_not_of("0123456789", 5);
        if (text.compare(std::min(end, text.size()), 2, ": ") == 0)
            first = end + 2;
    }
    const std::string name = text.substr(first, text.find_first_of(" :", first) - first);
    if (!options.find(name))
        return text;
    std::string named = text.substr(0, first) + option_of(name) + text.substr(first + name.size());
    for (const Field& field : options.fields) {
        // A word with an underscore is the name of a field, unless it is part of a path.
        const std::string word = " " + field.name;
        const std::size_t at = named.find(word);
        if (field.name.find('_') != std::string::npos && at != std::string::npos &&
            at + word.size() == std::min(named.size(), named.find_first_of(" ,:;/.", at + 1)))
            named.replace(at + 1, field.name.size(), option_of(field.name));
    }
    return named;
}

} // namespace

void naming_options(const Record& options, const std::function<void()>& part) {
    const auto named = [&](const std::exception& error) {
        return with_options(options, error.what());
    };
    try {
        part();
    } catch (const AgreedFailure& failure) {
        throw AgreedFailure(named(failure), failure.fault());
    } catch (const InvalidData& unfit) {
        throw InvalidData(named(unfit));
    } catch (const InvalidTask& refused) {
        throw InvalidTask(named(refused));
    }
}

void naming_data(const std::string& file, const std::function<void()>& part) {
    try {
        part();
    } catch (const AgreedFailure& failure) {
        const std::string text = failure.what();
        if (failure.fault() != AgreedFailure::Fault::data || text.find(file) != std::string::npos)
            throw;
        throw AgreedFailure(fmt::format("{}: {}", file, text), failure.fault());
    }
}

namespace {

/// Returns true for a file whose content is not JSON, such as an image.
bool holds_other_data(const std::string& path) {
    std::error_code unknown;
    if (!std::filesystem::is_regular_file(path, unknown))
        return false;
    char first = '{';
    std::ifstream(path) >> first;
    return first != '{' && first != '[';
}

} // namespace

Field& declare_json(Record& record, std::string& json) {
    Codec codec = {[&json] { return json; },
                   [&json](const Field&, std::string_view text) {
                       if (holds_other_data(std::string(text)))
                           return "the name of a new file or of a JSON file";
                       json = text;
                       return "";
                   }};
    return record
        .add("json", std::move(codec), "FILE",
             "write the results as JSON, to standard output or to a file")
        .file()
        .or_without(std::string(standard_output));
}

Record record_of(Reports& reports) {
    Record record;
    declare_json(record, reports.json);
    record.add("report", reports.report, "FILE", "write a report of the run (HTML)").file();
    return record;
}

void write_reports(const Reports& reports, std::span<const std::string> warnings,
                   const std::string& json, const std::string& text, const std::string& page) {
    print_warnings(warnings);
    if (!reports.json.empty())
        write_text(reports.json, json + "\n");
    if (!reports.report.empty())
        write_text(reports.report, page);
    if (reports.json != standard_output && reports.report != standard_output)
        print_text(text);
}

Record results_of(std::string_view operation) {
    return {{"operation", operation}, {"version", version()}};
}

Record provenance_of_run(const std::vector<std::string>& warnings) {
    return {{"warnings", warnings}, {"host", host()}, {"date", date()}};
}

void add_provenance(std::vector<report::Fact>& facts, const std::vector<std::string>& warnings) {
    facts.push_back({"Machine", fmt::format("{}, {}", host(), date())});
    for (const std::string& warning : warnings)
        facts.push_back({"Warning", warning});
}

std::string phases_text(const std::vector<report::Phase>& phases) {
    std::string text;
    for (const report::Phase& phase : phases) {
        text += fmt::format("{}{} {:.1f} ms", text.empty() ? "" : "  ", phase.name,
                            phase.seconds * 1e3);
        if (phase.predicted)
            text += fmt::format(" (predicted {:.1f})", *phase.predicted * 1e3);
    }
    return text + "\n";
}

Json seconds_of(const std::vector<report::Phase>& phases) {
    Json seconds;
    for (const report::Phase& phase : phases)
        seconds.set(phase.name, phase.seconds);
    return seconds;
}

std::string ranks_text(int ranks, std::string_view transport) {
    return fmt::format("{} of {}", report::counted(ranks, "rank"), transport);
}

void declare_output(Record& record, std::string& output, std::string_view value_name,
                    std::string_view meaning) {
    record.add("output", output, value_name, meaning).file().letter('o').required();
}

format::SourceOptions SourceChoice::options(const ScratchPlace& copy) const {
    return {channel, slice, allow_external, time, axes, copy};
}

std::unique_ptr<FrameSource>
open_on_ranks(const Communicator& communicator,
              const std::function<std::unique_ptr<FrameSource>(const ScratchPlace& copy)>& open) {
    std::unique_ptr<FrameSource> source;
    agree(communicator, [&] { source = open({}); });
    if (communicator.size() == 1) // a single rank decompresses only what it reads
        return source;
    const std::vector<int> nodes = nodes_of(communicator);
    const auto rank = static_cast<std::size_t>(communicator.rank());
    const auto first =
        static_cast<std::size_t>(std::ranges::find(nodes, nodes[rank]) - nodes.begin());
    ScratchPlace own;
    agree(communicator, [&] {
        if (rank == first && source)
            own = source->share();
    });
    const ScratchPlace copy = communicator.all_gather(own)[first];
    agree(communicator, [&] {
        if (rank != first && copy.process != 0)
            source = open(copy);
    });
    return source;
}

Record record_of(SourceChoice& source, std::string_view meaning) {
    Record record;
    record.add("image", source.image, "IMAGE", meaning).file().positional().required();
    record.add("frame", source.frame, "N", "frame of a series, counted from 0")
        .between(0, most_count);
    record
        .add("channel", source.channel, "N", "channel of a hyperstack, from 0; default: the first")
        .between(0, most_count);
    record.add("slice", source.slice, "N", "slice of a hyperstack, from 0; default: the first")
        .between(0, most_count);
    record
        .add("time", source.time, "N",
             "time of a hyperstack, from 0, whose slices are read as frames")
        .between(0, most_count);
    record.add("axes", source.axes, "NAMES",
               "names for the axes of an array (NPY, HDF5, Zarr), such as TCZYX");
    record.add("allow_external", source.allow_external,
               "allow HDF5 or Zarr to refer to samples in any other file");
    return record;
}

std::unique_ptr<RowSource> open_image(const SourceChoice& source, ReadAs read_as) {
    std::unique_ptr<FrameSource> frames = format::open_frames(source.image, source.options());
    const std::int64_t count = frames->header().frames;
    if (!source.frame && count != 1)
        throw InvalidTask(
            fmt::format("{} has {} frames: expected one, or --frame N", source.image, count));
    return std::make_unique<RowSource>(std::move(frames), source.frame.value_or(0), read_as);
}

std::unique_ptr<RowSource> open_image_or_volume(const SourceChoice& source) {
    std::unique_ptr<FrameSource> frames = format::open_frames(source.image, source.options());
    if (!source.frame && frames->header().frames > 1)
        return std::make_unique<RowSource>(std::move(frames), ReadAs::scaled);
    return std::make_unique<RowSource>(std::move(frames), source.frame.value_or(0), ReadAs::scaled);
}

std::vector<std::string> files_of_series(const std::string& name,
                                         const format::SourceOptions& options,
                                         std::span<const std::string> outputs) {
    std::vector<std::string> files = format::files_of_frames(name);
    const auto is_there = [](const std::string& output) {
        std::error_code unknown;
        return output != standard_output && std::filesystem::exists(output, unknown);
    };
    if (std::ranges::any_of(outputs, is_there)) {
        for (std::string& file : format::files_referred(name, options))
            files.push_back(std::move(file));
    }
    return files;
}

std::vector<std::string> files_read(const SourceChoice& source, const std::string& machine,
                                    std::span<const std::string> outputs) {
    std::vector<std::string> files = files_of_series(source.image, source.options(), outputs);
    if (!machine.empty())
        files.push_back(machine);
    return files;
}

void launch_tiles(const Call& call, const std::optional<Tiles>& grid,
                  const std::function<void(Communicator)>& body) {
    if (!grid || call.has("ranks") || detect_launcher().launcher != Launcher::none)
        return launch_ranks_or_cores(call, body);
    const std::int64_t tiles = grid->count();
    if (tiles > most_threads)
        throw InvalidTask(
            fmt::format("--grid {}: {} tiles, expected {} or fewer, because each needs a thread",
                        call.options.find("grid")->text(), tiles, most_threads));
    launch_ranks(call, static_cast<int>(tiles), body);
}

void offer_no_probe(Record& record, planner::Probing& probing) {
    record.without("probe");
    Codec codec = {[&probing] { return probing == planner::Probing::off ? "true" : "false"; },
                   [&probing](const Field&, std::string_view text) {
                       probing = text == "true" ? planner::Probing::off : planner::Probing::now;
                       return "";
                   }};
    record
        .add("no_probe", std::move(codec), "",
             "if there is no profile, use a built-in one; do not measure this machine")
        .kind = Field::Kind::flag;
}

Effect effect_of_external(std::vector<std::string> inputs) {
    const auto may_refer = [](const std::string& input) {
        if (input.empty())
            return false;
        try {
            const std::string file = format::split_series_name(input).path;
            const auto* const format =
                format::find_frame_format(format::files_of_frames(file).front());
            const auto opened_as = [format](const char* example) {
                return format && format->open == format::find_frame_format(example)->open;
            };
            return opened_as("a.h5") || opened_as("a.zarr");
        } catch (const InvalidFile&) {
            return true; // the error is reported when the file is opened; the file may not exist
                         // yet
        }
    };
    return {
        {"allow_external"},
        "only HDF5 and Zarr refer to other files",
        [inputs = std::move(inputs), may_refer] { return std::ranges::any_of(inputs, may_refer); }};
}

void declare_zarr(Record& record, int& version) {
    record.add("zarr", version, "N", "Zarr version: 3 (OME-Zarr 0.5) or 2 (OME-Zarr 0.4)")
        .between(2, 3);
}

Effect effect_of_zarr(const std::string& output) {
    return {{"zarr"}, "the output is not a Zarr store (.zarr)", [&output] {
                const format::FrameFormat* const format = format::find_frame_format(output);
                return format && format->is_folder();
            }};
}

bool is_saved(const std::string& plan) {
    std::error_code unknown;
    return !plan.empty() && std::filesystem::exists(plan, unknown);
}

Effects with_no_probe(Effects effects) {
    for (Effect& effect : effects)
        std::ranges::replace(effect.options, "probe", "no_probe");
    return effects;
}

Effect effect_of_merging(const std::optional<std::int64_t>& ranks,
                         const std::optional<Tiles>& grid) {
    return {{"pattern", "machine", "no_probe"},
            "one rank has no tiles to merge: expected --ranks 2 or more",
            [&] { return !is_one_rank(ranks, grid); }};
}

bool is_one_rank(const std::optional<std::int64_t>& ranks, const std::optional<Tiles>& grid) {
    return ranks ? *ranks == 1 : grid && grid->count() == 1;
}

Field& declare_ranks(Record& record, std::optional<std::int64_t>& ranks, std::string_view usual) {
    return record.add("ranks", ranks, "N", fmt::format("number of ranks; default: {}", usual))
        .between(1, most_threads);
}

Field& declare_shared_memory(Record& record, std::string& when) {
    return record.add("shared_memory", when, "WHEN", "share memory between processes of a node")
        .one_of({"auto", "on", "off"});
}

void launch_ranks(const Call& call, int threads, const std::function<void(Communicator)>& body,
                  const char* option) {
    launch(threads, [&](Communicator communicator) {
        if (!communicator.shares_memory())
            require_same(communicator, call.options);
        if (call.has(option) &&
            call.options.find(option)->text() != fmt::to_string(communicator.size()))
            throw AgreedFailure(
                fmt::format("{} {}: the launcher started {} processes; omit this option",
                            call.options.find(option)->called(), call.options.find(option)->text(),
                            communicator.size()),
                AgreedFailure::Fault::task);
        body(std::move(communicator));
    });
}

void launch_ranks_or_cores(const Call& call, const std::function<void(Communicator)>& body,
                           const char* option) {
    int ranks = call.has(option) ? std::stoi(call.options.find(option)->text()) : 0;
    if (ranks == 0 && detect_launcher().launcher == Launcher::none)
        ranks = std::clamp(Cores::available().count(), 1, most_threads);
    launch_ranks(call, ranks, body, option);
}

} // namespace sextant::command

// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/options.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/comm/waiting.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::command {

Parameter frame_parameter() {
    return {.name = "frame",
            .type = Type::integer,
            .value = "N",
            .help = "which one of a series, from 0",
            .least = 0,
            .most = most_count};
}

Parameter channel_parameter() {
    return {.name = "channel",
            .type = Type::integer,
            .value = "N",
            .help = "channel to read of a hyperstack, from 0; default: the first",
            .least = 0,
            .most = most_count};
}

Parameter slice_parameter() {
    return {.name = "slice",
            .type = Type::integer,
            .value = "N",
            .help = "slice to read of a hyperstack, from 0; default: the first",
            .least = 0,
            .most = most_count};
}

Parameter ranks_parameter() {
    return {.name = "ranks",
            .type = Type::integer,
            .value = "N",
            .help = "threads; default: a tile of --grid each, or one a core",
            .least = 1,
            .most = most_threads};
}

Parameter grid_parameter() {
    return {.name = "grid",
            .value = "XxY",
            .help = "tiles: so many columns and rows; default: nearly square"};
}

Parameter machine_parameter() {
    return {.name = "machine",
            .type = Type::file,
            .value = "FILE",
            .help = "a profile to predict with; default: this machine's"};
}

Parameter json_parameter() {
    return {.name = "json",
            .type = Type::file,
            .value = "FILE",
            .help = "write what ran as JSON; - for standard output"};
}

Parameter external_parameter() {
    return {.name = "allow-external",
            .type = Type::flag,
            .help = "read samples from any file that an HDF5 file names"};
}

Parameter report_parameter() {
    return {.name = "report",
            .type = Type::file,
            .value = "FILE",
            .help = "write a page that shows the run (HTML); - for standard output"};
}

Parameter memory_parameter(std::string_view mebibytes, std::string_view help) {
    return {.name = "memory",
            .type = Type::integer,
            .value = "MIB",
            .fallback = mebibytes,
            .help = help,
            .least = 1,
            .most = 1 << 30};
}

format::SourceOptions source_options(const Values& values) {
    format::SourceOptions options;
    if (values.has("channel"))
        options.channel = values.integer("channel");
    if (values.has("slice"))
        options.slice = values.integer("slice");
    options.allow_external = values.flag("allow-external");
    return options;
}

std::unique_ptr<RowSource> open_image(const Values& values, ReadAs read_as) {
    std::unique_ptr<FrameSource> frames =
        format::open_frames(values.text("image"), source_options(values));
    const std::int64_t count = frames->header().frames;
    if (!values.has("frame") && count != 1)
        throw InvalidTask(fmt::format("{} has {} frames: expected one, or --frame N",
                                      values.text("image"), count));
    const std::int64_t frame = values.has("frame") ? values.integer("frame") : 0;
    return std::make_unique<RowSource>(std::move(frames), frame, read_as);
}

std::vector<std::string> files_read(const Values& values) {
    std::vector<std::string> files = format::files_of_frames(values.text("image"));
    if (values.has("machine"))
        files.push_back(values.text("machine"));
    return files;
}

void tell_run(const Values& values, std::span<const std::string> warnings, const std::string& json,
              const std::string& text, const std::string& page) {
    print_warnings(warnings);
    if (values.has("json"))
        write_text(values.text("json"), json + "\n");
    if (values.has("report"))
        write_text(values.text("report"), page);
    if (values.text("json") != standard_output && values.text("report") != standard_output)
        print_text(text);
}

void launch_tiles(const Values& values, const std::function<void(Communicator)>& body) {
    if (!values.has("grid") || values.has("ranks") || detect_launcher().launcher != Launcher::none)
        return launch_ranks_or_cores(values, body);
    const ImageSize grid = image_size("grid", values.text("grid"));
    if (grid.width * grid.height > most_threads)
        throw InvalidTask(fmt::format("--grid {}: {} tiles, expected {} or fewer, a thread each",
                                      values.text("grid"), grid.width * grid.height, most_threads));
    launch_ranks(values, static_cast<int>(grid.width * grid.height), body);
}

Grid grid_asked_for(const Values& values, ImageShape image, int ranks) {
    const ImageSize grid = image_size("grid", values.text("grid"));
    if (grid.width * grid.height != ranks)
        throw InvalidTask(fmt::format("--grid {}: {} tiles, expected as many as the {} ranks",
                                      values.text("grid"), grid.width * grid.height, ranks));
    return {image.width, image.height, static_cast<int>(grid.width), static_cast<int>(grid.height)};
}

Grid grid_of(const Values& values, ImageShape image, int ranks) {
    return values.has("grid") ? grid_asked_for(values, image, ranks)
                              : near_square(ranks, image.width, image.height);
}

void naming_options(const Record& options, const std::function<void()>& part) {
    try {
        part();
    } catch (const AgreedFailure& failure) {
        const std::string text = failure.what();
        const std::size_t end = text.find_first_of(" :");
        std::string name = text.substr(0, end);
        if (!options.find(name))
            throw;
        std::replace(name.begin(), name.end(), '_', '-');
        throw AgreedFailure("--" + name + text.substr(name.size()), failure.invalid_task());
    }
}

Parameter no_probe_parameter() {
    return {.name = "no-probe",
            .type = Type::flag,
            .help = "plan for a built-in machine if this one has no profile; do not probe it"};
}

planner::Probing probing_of(const Values& values) {
    return values.flag("no-probe") ? planner::Probing::off : planner::Probing::now;
}

Parameter shared_memory_parameter() {
    return {.name = "shared-memory",
            .type = Type::choice,
            .value = "WHEN",
            .fallback = "auto",
            .help = "processes of a node share memory",
            .choices = {"auto", "on", "off"}};
}

Parameter pattern_parameter() {
    return {.name = "pattern",
            .value = "NAME",
            .fallback = distributed::MergingRequest::automatic,
            .help = "in which order tiles are merged (sextant list algorithms)"};
}

distributed::MergingRequest merging_request(const Values& values) {
    return {values.text("pattern"), values.text("machine"), probing_of(values),
            values.has("report")};
}

ImageSize image_size(std::string_view option, const std::string& text) {
    const char *at = text.data(), *const end = at + text.size();
    const auto side = [&] {
        std::int64_t number = 0;
        const auto [stop, error] = std::from_chars(at, end, number);
        if (error != std::errc{} || number < 1 || number > 1 << 20)
            throw InvalidTask(fmt::format("--{} {}: expected WIDTHxHEIGHT, each from 1 to "
                                          "1048576",
                                          option, text));
        at = stop;
        return number;
    };
    const std::int64_t width = side();
    if (at == end)
        return {width, width};
    if (*at != 'x')
        throw InvalidTask(fmt::format("--{} {}: expected WIDTHxHEIGHT", option, text));
    ++at;
    const std::int64_t height = side();
    if (at != end)
        throw InvalidTask(fmt::format("--{} {}: expected WIDTHxHEIGHT", option, text));
    return {width, height};
}

namespace {

/// The first line of `text` that `other` does not have, or "".
std::string line_beyond(const std::string& text, const std::string& other) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (("\n" + other).find("\n" + line + "\n") == other.npos)
            return line;
    }
    return "";
}

/// Throws AgreedFailure if ranks have different options: they would run different programs and
/// deadlock. File names may differ, because nodes may have their own files. Collective.
void require_same_options(const Values& values, const Communicator& communicator) {
    if (communicator.shares_memory())
        return;
    const std::vector<std::string> all = all_gather_texts(communicator, values.settings());
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
        if (const std::string more = line_beyond(all[rank], all[0]); !more.empty())
            throw AgreedFailure(
                fmt::format("rank {} was given --{}, rank 0 another or none", rank, more), true);
        if (const std::string less = line_beyond(all[0], all[rank]); !less.empty())
            throw AgreedFailure(
                fmt::format("rank 0 was given --{}, rank {} another or none", less, rank), true);
    }
}

} // namespace

void launch_ranks(const Values& values, int threads, const std::function<void(Communicator)>& body,
                  const char* option) {
    launch(threads, [&](Communicator communicator) {
        require_same_options(values, communicator);
        if (values.has(option) && communicator.size() != values.integer(option)) {
            throw AgreedFailure(fmt::format("--{} {} under a launcher that started {} processes; "
                                            "leave it out",
                                            option, values.integer(option), communicator.size()),
                                true);
        }
        body(std::move(communicator));
    });
}

void launch_ranks_or_cores(const Values& values, const std::function<void(Communicator)>& body,
                           const char* option) {
    int ranks = static_cast<int>(values.has(option) ? values.integer(option) : 0);
    if (ranks == 0 && detect_launcher().launcher == Launcher::none)
        ranks = std::clamp(Cores::available().count(), 1, most_threads);
    launch_ranks(values, ranks, body, option);
}

Field& declare_json(Record& record, std::string& json) {
    return record.add("json", json, "FILE", "write the results as JSON, here or to a file")
        .file()
        .or_without(std::string(standard_output));
}

Record record_of(Reports& reports) {
    Record record;
    declare_json(record, reports.json);
    record.add("report", reports.report, "FILE", "write a page that shows the run (HTML)").file();
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

format::SourceOptions SourceChoice::options() const {
    return {channel, slice, allow_external};
}

Record record_of(SourceChoice& source, std::string_view meaning) {
    Record record;
    record.add("image", source.image, "IMAGE", meaning).file().positional().required();
    record.add("frame", source.frame, "N", "which one of a series, from 0").between(0, most_count);
    record
        .add("channel", source.channel, "N",
             "channel to read of a hyperstack, from 0; default: the first")
        .between(0, most_count);
    record
        .add("slice", source.slice, "N",
             "slice to read of a hyperstack, from 0; default: the first")
        .between(0, most_count);
    record.add("allow_external", source.allow_external,
               "read samples from any file that an HDF5 file names");
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

std::vector<std::string> files_read(const SourceChoice& source, const std::string& machine) {
    std::vector<std::string> files = format::files_of_frames(source.image);
    if (!machine.empty())
        files.push_back(machine);
    return files;
}

void launch_tiles(const Call& call, const std::optional<Tiles>& grid,
                  const std::function<void(Communicator)>& body) {
    if (!grid || call.has("ranks") || detect_launcher().launcher != Launcher::none)
        return launch_ranks_or_cores(call, body);
    const std::int64_t tiles = std::int64_t{grid->columns} * grid->rows;
    if (tiles > most_threads)
        throw InvalidTask(fmt::format("--grid {}: {} tiles, expected {} or fewer, a thread each",
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
             "do not measure a machine without a profile; plan for a built-in one")
        .kind = Field::Kind::flag;
}

Field& declare_ranks(Record& record, std::optional<std::int64_t>& ranks, std::string_view usual) {
    return record.add("ranks", ranks, "N", fmt::format("ranks, as threads; default: {}", usual))
        .between(1, most_threads);
}

Field& declare_shared_memory(Record& record, std::string& when) {
    return record.add("shared_memory", when, "WHEN", "processes of a node share memory")
        .one_of({"auto", "on", "off"});
}

void launch_ranks(const Call& call, int threads, const std::function<void(Communicator)>& body,
                  const char* option) {
    launch(threads, [&](Communicator communicator) {
        if (!communicator.shares_memory())
            require_same(communicator, call.options);
        if (call.has(option) &&
            call.options.find(option)->text() != fmt::to_string(communicator.size()))
            throw AgreedFailure(fmt::format("{} {} under a launcher that started {} processes; "
                                            "leave it out",
                                            call.options.find(option)->called(),
                                            call.options.find(option)->text(), communicator.size()),
                                true);
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

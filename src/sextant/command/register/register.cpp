// SPDX-License-Identifier: BSD-3-Clause

#include "sextant/command/register/register.hpp"

#include "sextant/array/sample_offset.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/comm/waiting.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/follow/follow.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/register/aligned_movie.hpp"
#include "sextant/command/register/result_folder.hpp"
#include "sextant/command/register/series_set.hpp"
#include "sextant/command/series/aligned_stack.hpp"
#include "sextant/command/series/detector_files.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/registration/series/checkpoint.hpp"
#include "sextant/registration/series/division.hpp"
#include "sextant/registration/stages/refinement.hpp"
#include "sextant/report/registration_sections.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <unistd.h>

namespace sextant::command {

namespace {

/// The options of `sextant register`.
struct RegisterCommand {
    SourceChoice source;
    std::vector<std::string> more; ///< further series
    std::string output, format = "tif", movie;
    AlignedChoice aligned;
    std::optional<std::int64_t> ranks;
    RegistrationOptions registration;
    DetectorFiles detector;
    FollowChoice following;
    Reports reports;

    bool nonrigid() const { return registration.model == MotionModel::nonrigid; }
};

std::vector<std::string> all_series(const RegisterCommand& command) {
    std::vector<std::string> series = command.more;
    series.insert(series.begin(), command.source.image);
    return series;
}

/// Throws InvalidFile unless the output folder exists and is writable, or can be created.
void check_folder(const std::string& output) {
    std::error_code unknown;
    const std::filesystem::path folder(output);
    if (std::filesystem::exists(folder, unknown)) {
        if (!std::filesystem::is_directory(folder, unknown))
            throw InvalidFile(output, "is not a folder");
        return require_writable((folder / "transforms.json").string());
    }
    const auto parent = std::filesystem::absolute(folder).lexically_normal().parent_path();
    const auto above = folder.has_filename() ? parent : parent.parent_path();
    if (!std::filesystem::is_directory(above, unknown))
        throw InvalidFile(output, fmt::format("the folder {} does not exist", above.string()));
    if (access(above.c_str(), W_OK) != 0)
        throw InvalidFile(output, fmt::format("the folder {} is not writable", above.string()));
}

bool is_in(const std::string& folder, const std::string& path) {
    const auto parent = std::filesystem::path(path).parent_path();
    return parent.lexically_normal() ==
           (std::filesystem::path(folder) / "").lexically_normal().parent_path();
}

/// Creates a folder unless it exists. Throws InvalidFile.
void create_folder(const std::string& folder) {
    std::error_code failed;
    std::filesystem::create_directory(folder, failed);
    if (failed)
        throw InvalidFile(folder, "cannot be created: " + failed.message());
}

TextSink into(AtomicFile& file) {
    return [&file](std::string_view part) { file.write(part); };
}

/// Runs `sextant register` on one rank. The output files appear together at the end; until then,
/// results are kept in a checkpoint in the output folder.
class RegisterRun {
  public:
    /// `threads`: the number of threads on this rank. `label`: text before notes and progress
    /// lines, for one of several series, whose summaries are not printed.
    RegisterRun(const RegisterCommand& command, Communicator communicator, int threads,
                std::string label = {}, bool shows_progress = true)
        : command_(command),
          communicator_(std::move(communicator)),
          progress_(communicator_.rank() == 0 && shows_progress),
          label_(std::move(label)),
          options_(command.registration) {
        options_.threads = threads;
        options_.recorded_mean = !command.reports.report.empty();
        options_.checkpoint = command.output;
    }

    /// Opens the series, checks the options and the output files, and creates the output folder.
    /// Used before a series is followed.
    void prepare() {
        prepares_ = true; // the number of frames is not known yet
        open();
        naming_options(record_of(options_), [&] {
            agree(communicator_, [&] {
                record_of(options_).check();
                require_compatible(options_);
            });
        });
        create_folder(command_.output);
    }

    /// Returns the results as JSON, on rank 0. Collective.
    std::string run() {
        std::unique_ptr<FrameSource> source;
        agree(communicator_, [&] { source = open(); });
        std::optional<TraceClocks> clocks;
        WorkLog log(communicator_.rank());
        if (options_.recorded_mean)
            clocks.emplace(communicator_);
        register_series(std::move(source), log);
        if (clocks)
            summary_.work = gather_work(communicator_, *clocks, log);
        std::string json;
        agree(communicator_, [&] {
            if (communicator_.rank() == 0)
                json = report();
        });
        return json;
    }

  private:
    void note(const std::string& text) const { print_note(label_ + text); }

    std::string path_of(const std::string& name) const {
        return (std::filesystem::path(command_.output) / name).string();
    }

    /// Opens the series and checks the output files.
    std::unique_ptr<FrameSource> open() {
        std::unique_ptr<FrameSource> source =
            format::open_frames(command_.source.image, command_.source.options());
        header_ = source->header();
        path_ = source->path();
        options_.detector = images_of(command_.detector, header_.shape);
        summary_.corrected = !options_.detector.empty();
        options_.region = region_of(command_.detector.mask);
        summary_.output = command_.output;
        summary_.ranks = communicator_.size();
        summary_.team = options_.threads;
        summary_.transport = transport_of(communicator_);
        for (const std::string& remark : header_.remarks)
            summary_.warnings.push_back(fmt::format("{}: {}", source->path(), remark));
        SeriesTransforms& transforms = summary_.transforms;
        transforms.series = command_.source.image;
        transforms.model = name(options_.model);
        transforms.shape = header_.shape;
        transforms.pixel = header_.pixel;
        transforms.with_seconds = !options_.reproducible;
        transforms.stages = options_.stages;
        summary_.aligned = plan_aligned(
            command_.aligned, path_of(fmt::format("aligned.{}", command_.format)), header_);
        if (communicator_.rank() == 0) {
            check_folder(summary_.output);
            if (command_.nonrigid() && !prepares_)
                note(describe_field_storage(header_, options_.stages));
            check_reports();
            earlier_ = results_of_earlier_run(summary_.output);
        }
        return source;
    }

    /// Returns the files to be written to the output folder.
    std::vector<std::string> results() const {
        std::vector<std::string> paths = {path_of("transforms.csv"), path_of("transforms.json")};
        for (const char* image : {"average", "median", "count"})
            paths.push_back(path_of(fmt::format("{}.{}", image, command_.format)));
        if (!summary_.aligned.path.empty())
            paths.push_back(summary_.aligned.path);
        if (!command_.movie.empty())
            paths.push_back(command_.movie);
        if (command_.nonrigid())
            paths.push_back(path_of("fields.npy"));
        if (options_.scan_rows != ScanRows::off)
            paths.push_back(path_of("rows.npy"));
        return paths;
    }

    /// Checks the output files that the user named. Those in the output folder are checked for
    /// conflicts here, but check_folder() checks whether they can be written.
    void check_reports() const {
        std::vector<std::string> all = results(), elsewhere = reports();
        all.insert(all.end(), elsewhere.begin(), elsewhere.end());
        if (command_.aligned.is_file())
            elsewhere.push_back(command_.aligned.when);
        if (!command_.movie.empty())
            elsewhere.push_back(command_.movie);
        std::erase_if(elsewhere,
                      [&](const std::string& path) { return is_in(summary_.output, path); });
        require_distinct(all);
        keep_inputs(files_read(command_.source, "", all), all);
        keep_inputs(paths_of(command_.detector, all), all);
        check_outputs(elsewhere);
    }

    std::vector<std::string> reports() const {
        return files_named({command_.reports.report, command_.reports.json});
    }

    RunControl control() {
        return {.progress = [this](std::string_view part, std::int64_t done, std::int64_t all) {
            const bool divided = communicator_.size() > 1 && !part.starts_with("write ");
            progress_.say(label_ +
                              (divided ? fmt::format("{} on rank 0 of {} ({} frames in all):", part,
                                                     communicator_.size(), header_.frames)
                                       : std::string(part)),
                          done, all);
        }};
    }

    void register_series(std::unique_ptr<FrameSource> source, WorkLog& log) {
        RegistrationHooks hooks;
        hooks.write = [this](const RegistrationResult& result, RegisteredFrames& frames) {
            write(result, frames);
        };
        hooks.resumed = [this](std::size_t results) {
            note(command_.following.follow
                     ? fmt::format("{} results computed while following are reused", results)
                     : fmt::format("resuming an earlier run: {} of its results are reused",
                                   results));
        };
        hooks.failed = [this](std::span<const FrameRegistration> frames) {
            report_failure(frames);
        };
        if (options_.recorded_mean) {
            hooks.worked = [&log](registration::Work work, Seconds begin, Seconds end) {
                log.add(work, begin, end);
            };
        }
        const auto run = [&] {
            summary_.result = SeriesRegistration(communicator_, options_, control())
                                  .run(std::move(source), hooks);
        };
        naming_data(path_, [&] { naming_options(record_of(options_), run); });
        summary_.result.frames.clear(); // rank 0 has copied the frames to the summary
    }

    /// Creates a file for one image that is computed from samples of type `from` with `offset`
    /// subtracted.
    std::unique_ptr<FrameSink> sink(const std::string& name, ImageShape shape,
                                    Sample from = Sample::f32, double offset = 0) {
        FrameHeader header;
        header.frames = 1;
        header.shape = shape;
        header.pixel = header_.pixel;
        const std::string path = path_of(fmt::format("{}.{}", name, command_.format));
        header.sample = computed_sample(path, from, offset);
        summary_.files.push_back(path);
        warn_of_lost_pixel(path, header);
        return format::create_frames(path, header);
    }

    /// Warns, once per format, if a file cannot store the pixel size.
    void warn_of_lost_pixel(const std::string& path, const FrameHeader& header) {
        std::string lost = format::remark_on_lost_pixel(path, header);
        if (!lost.empty() && lossy_formats_.insert(std::filesystem::path(path).extension()).second)
            summary_.warnings.push_back(std::move(lost));
    }

    /// Writes an image. If its samples are f64, adds the offset that was subtracted from the
    /// series; pixels without data are 0.
    std::unique_ptr<FrameSink> image(const std::string& name, const std::vector<float>& pixels,
                                     const std::vector<float>& count, double offset) {
        std::unique_ptr<FrameSink> image =
            sink(name, summary_.transforms.canvas->shape, header_.sample, offset);
        if (image->header().sample == Sample::f32) {
            const float added = offset_added(image->header().sample, header_.sample, offset);
            if (added == 0) {
                image->write(pixels);
                return image;
            }
            std::vector<float> sums(pixels);
            for (std::size_t pixel = 0; pixel < pixels.size(); ++pixel) {
                if (count[pixel] > 0)
                    sums[pixel] += added;
            }
            image->write(sums);
            return image;
        }
        std::vector<double> wide(pixels.size());
        for (std::size_t pixel = 0; pixel < pixels.size(); ++pixel) {
            if (count[pixel] > 0)
                wide[pixel] = static_cast<double>(pixels[pixel]) + offset;
        }
        image->write_samples(std::as_bytes(std::span(wide)));
        return image;
    }

    /// Writes the aligned stack, if any, and adds all frames to a movie, if any.
    std::unique_ptr<FrameSink> aligned(RegisteredFrames& frames, double offset,
                                       AlignedMovie* movie) {
        AlignedStack& stack = summary_.aligned;
        const auto numbers = frames.numbers();
        std::optional<AlignedWriter> writer;
        if (!stack.path.empty()) {
            FrameHeader header = header_;
            header.sample = stack.sample;
            warn_of_lost_pixel(stack.path, header);
            writer.emplace(stack, header_, numbers, offset);
        }
        for (const std::int64_t frame : numbers)
            frames.aligned(frame, [&](std::span<const float> rows) {
                if (writer)
                    writer->write(rows);
                if (movie)
                    movie->add(rows);
            });
        if (!writer)
            return nullptr;
        summary_.files.push_back(stack.path);
        const bool inside = !command_.aligned.is_file();
        summary_.transforms.aligned_file =
            AlignedFile{inside ? std::filesystem::path(stack.path).filename().string() : stack.path,
                        stack.area};
        return writer->finish();
    }

    std::unique_ptr<FrameSink> fields(RegisteredFrames& frames) {
        FrameHeader header;
        header.frames = 4 * std::ssize(frames.numbers());
        header.shape = registration::nodes_of_fields(header_.shape);
        std::unique_ptr<FrameSink> planes = format::create_frames(path_of("fields.npy"), header);
        for (const std::int64_t frame : frames.numbers()) {
            const auto field = std::get<registration::DisplacementField>(frames.transform(frame));
            const std::vector<float> known(field.known.begin(), field.known.end());
            for (const std::vector<float>* plane : {&field.x, &field.y, &field.sigma, &known})
                planes->write(*plane);
            summary_.transforms.fields = {"fields.npy", field.spacing, field.nodes};
            keep_worst(frame, field);
        }
        summary_.files.push_back(path_of("fields.npy"));
        return planes;
    }

    /// Writes the displacements of the rows of all registered frames.
    std::unique_ptr<FrameSink> rows(RegisteredFrames& frames, std::int64_t flyback) {
        constexpr std::size_t numbers_per_row = 3;
        FrameHeader header;
        header.frames = std::ssize(frames.numbers());
        header.shape = {numbers_per_row, header_.shape.height};
        std::unique_ptr<FrameSink> table = format::create_frames(path_of("rows.npy"), header);
        std::vector<float> numbers(static_cast<std::size_t>(header.shape.elements()));
        for (const std::int64_t frame : frames.numbers()) {
            const auto motion = std::get<registration::RowMotion>(frames.transform(frame));
            for (std::size_t row = 0; row < motion.dx.size(); ++row) {
                float* const line = numbers.data() + row * numbers_per_row;
                line[0] = motion.dx[row];
                line[1] = motion.dy[row];
                line[2] = motion.sigma[row];
            }
            table->write(numbers);
        }
        summary_.transforms.rows = {"rows.npy", header_.shape.height, flyback};
        summary_.files.push_back(path_of("rows.npy"));
        return table;
    }

    /// Keeps the displacement field with the largest deviation for the page.
    void keep_worst(std::int64_t frame, const registration::DisplacementField& field) {
        if (!options_.recorded_mean)
            return;
        const auto& all = summary_.transforms.frames;
        const auto place =
            std::find_if(all.begin(), all.end(), [frame](const FrameRegistration& each) {
                return each.frame == frame && each.field.has_value();
            });
        if (place == all.end())
            return;
        const double sigma = place->field->sigma;
        if (!summary_.worst_field || sigma > summary_.worst_field->sigma)
            summary_.worst_field = FrameField{frame, sigma, field};
    }

    void write_movie(const AlignedMovie& movie, AtomicFile& file) {
        const format::Animation animation = movie.finish();
        std::string png = encode_apng(animation);
        file.write(command_.movie.ends_with(".gif") ? encode_gif(animation) : png);
        summary_.files.push_back(command_.movie);
        summary_.per_picture = movie.frames_per_picture();
        if (options_.recorded_mean)
            summary_.movie = std::move(png);
    }

    /// Writes all files completely before any of them appears under its final name.
    void write(const RegistrationResult& result, RegisteredFrames& frames) {
        const registration::Combined& average = result.average;
        if (!floats_hold_offset(header_.sample, result.offset))
            summary_.warnings.push_back(fmt::format(
                "{}: {}", path_, offset_remark(result.offset, "average." + command_.format)));
        if (const std::string ignored = describe_ignored(result); !ignored.empty())
            note(ignored);
        summary_.transforms.reference = result.reference;
        summary_.transforms.canvas = result.canvas;
        summary_.transforms.stages = result.stages;
        summary_.transforms.model = name(result.model);
        summary_.transforms.relative_to = frame_of_reference(summary_.transforms);
        summary_.transforms.frames = result.frames;
        std::vector<std::unique_ptr<FrameSink>> sinks;
        sinks.push_back(image("average", average.mean, average.count, result.offset));
        sinks.push_back(image("median", average.median, average.count, result.offset));
        sinks.push_back(sink("count", result.canvas.shape));
        sinks.back()->write(average.count);
        settle_aligned(summary_.aligned, command_.aligned, frames.area(),
                       std::ssize(frames.numbers()));
        std::list<AtomicFile> tables;
        std::optional<AlignedMovie> movie;
        if (!command_.movie.empty()) {
            const double ncc = std::max(.01, median_ncc(result.frames));
            movie.emplace(frames.area().shape, std::ssize(frames.numbers()), 1 / (ncc * ncc) - 1);
        }
        if (!summary_.aligned.path.empty() || movie)
            sinks.push_back(aligned(frames, result.offset, movie ? &*movie : nullptr));
        std::erase(sinks, nullptr);
        if (movie)
            write_movie(*movie, tables.emplace_back(command_.movie));
        if (const auto& pattern = result.static_pattern) {
            sinks.push_back(sink("static", pattern->shape));
            sinks.back()->write(pattern->image());
        }
        if (command_.nonrigid())
            sinks.push_back(fields(frames));
        if (result.rows)
            sinks.push_back(rows(frames, result.flyback));
        for (const char* table : {"transforms.csv", "transforms.json"})
            summary_.files.push_back(path_of(table));
        std::vector<std::string> files = reports();
        files.insert(files.begin(), summary_.files.begin(), summary_.files.end());
        summary_.transforms.files = names_in(summary_.output, files);
        summary_.transforms.row_shift =
            result.bidirectional.value_or(registration::RowShift()).shift;
        write_csv(summary_.transforms, into(tables.emplace_back(path_of("transforms.csv"))));
        write_json(summary_.transforms, into(tables.emplace_back(path_of("transforms.json"))));
        JointCommit together;
        for (const auto& sink : sinks)
            sink->commit();
        for (AtomicFile& table : tables)
            table.commit();
        together.commit();
        remove_stale(earlier_, files);
        remove_stale(live_files(summary_.output, command_.format), files); // also of killed runs
        summary_.streaks = registration::find_streaks(average, result.canvas.shape);
    }

    /// Looks for the reasons why frames resemble no other frame and, for a page, reads thumbnails.
    void examine_frames() {
        const bool has_page = !command_.reports.report.empty();
        if (!has_page && frames_to_examine(summary_.transforms.frames).empty())
            return;
        try {
            const auto source =
                format::open_frames(command_.source.image, command_.source.options());
            summary_.evidence = evidence_of(*source, summary_.transforms.frames, options_);
            if (has_page)
                summary_.thumbnails =
                    thumbnails_of(*source, frames_to_picture(summary_.transforms));
        } catch (const InvalidFile&) {
            // The series was removed during the run. The page has no pictures of single frames.
        }
    }

    /// Prints suggestions and writes the page.
    void report_failure(std::span<const FrameRegistration> frames) {
        progress_.clear();
        for (FrameRegistration frame : frames) {
            if (frame.left_out.empty())
                frame.leave_out(Omission::unlike, "no other frame could be registered to this one");
            summary_.transforms.frames.push_back(std::move(frame));
        }
        summary_.result.flattened = options_.flatten == Flattening::on;
        examine_frames();
        for (const std::string& advice : advice_on_failure(summary_))
            note("advice: " + advice);
        const std::string& page = command_.reports.report;
        if (page.empty())
            return;
        write_text(page, to_failure_page(summary_));
        note(page + " shows the frames");
    }

    std::string report() {
        progress_.clear();
        for (const std::string& warning : summary_.result.warnings)
            summary_.warnings.push_back(fmt::format("{}: {}", summary_.transforms.series, warning));
        for (const std::string& warning : warnings_of_frames(summary_.transforms))
            summary_.warnings.push_back(warning);
        examine_frames();
        std::string json = to_json(summary_);
        JointCommit together;
        write_reports(command_.reports, summary_.warnings, json,
                      label_.empty() ? to_text(summary_) : "",
                      summary_.work ? to_page(summary_) : "");
        together.commit();
        return json;
    }

    const RegisterCommand& command_;
    const Communicator communicator_;
    Progress progress_;
    const std::string label_;
    RegistrationOptions options_;
    bool prepares_ = false;
    FrameHeader header_;                            ///< header of the series
    std::string path_;                              ///< path of the series
    std::set<std::filesystem::path> lossy_formats_; ///< extensions of warn_of_lost_pixel()
    std::vector<std::string> earlier_; ///< files of an earlier run in the output folder
    RegisterSummary summary_;
};

/// Returns the numbers of ranks and threads per rank: as specified by the user or the launcher,
/// else the division of the cores that is expected to be fastest for the series.
registration::Division division_for(const RegisterCommand& command, const Call& call) {
    const bool launched = detect_launcher().launcher != Launcher::none;
    if (launched || call.has("ranks") || call.has("threads"))
        return {launched ? 0 : static_cast<int>(command.ranks.value_or(1)),
                command.registration.threads, 0};
    const int cores = std::clamp(Cores::available().count(), 1, most_threads);
    if (std::ssize(command.more) + 1 >= cores)
        return {cores, 1, 0}; // each rank registers whole series
    const FrameHeader header =
        format::open_frames(command.source.image, command.source.options())->header();
    const registration::FrameCosts costs = registration::default_costs(
        header.shape, command.registration.farthest, command.nonrigid());
    return registration::divisions(cores, header.frames, costs, {},
                                   command.registration.reproducible)
        .front();
}

/// Follows the series until it ends. Returns the command that then registers the series.
RegisterCommand followed(const RegisterCommand& command) {
    if (detect_launcher().launcher != Launcher::none)
        throw InvalidTask("--follow: one process follows a series, but a launcher started several; "
                          "expected --ranks N instead");
    if (command.registration.restart)
        registration::Checkpoint::remove(command.output);
    RegisterCommand batch = command;
    batch.source.image = follow({command.source, command.following, command.registration,
                                 command.detector, command.output, command.format},
                                [&](const std::string& name) {
                                    RegisterCommand checked = command;
                                    checked.source.image = name;
                                    run_threads(1, [&](Communicator communicator) {
                                        RegisterRun(checked, std::move(communicator), 1).prepare();
                                    });
                                });
    batch.registration.restart = false;
    return batch;
}

/// Throws InvalidTask or InvalidFile for calls with several series that would fail for each, or
/// whose outputs are in conflict.
void check_several(const RegisterCommand& all, std::span<const RegisterCommand> each) {
    if (all.following.follow)
        throw InvalidTask(
            fmt::format("--follow: follows one series, but {} are given", each.size()));
    if (all.aligned.is_file())
        throw InvalidTask(
            fmt::format("--aligned {}: one file for {} series, expected auto, on or off",
                        all.aligned.when, each.size()));
    if (!all.movie.empty())
        throw InvalidTask(
            fmt::format("--movie {}: one file for {} series", all.movie, each.size()));
    std::vector<std::string> outputs = files_named({all.reports.report, all.reports.json});
    require_distinct(outputs);
    for (const RegisterCommand& one : each) {
        if (is_stream(one.source.image))
            throw InvalidFile(one.source.image, "is a stream; expected one series, and --follow");
        try {
            keep_inputs(files_read(one.source, "", outputs), outputs);
        } catch (const InvalidFile&) {
            // The error is reported with the results.
        }
    }
    std::erase_if(outputs, [&](const std::string& path) { return is_in(all.output, path); });
    check_outputs(outputs);
    check_folder(all.output);
    // The shell may have expanded a pattern of files with one frame each.
    const std::filesystem::path first = each.front().source.image;
    try {
        if (format::open_frames(first, each.front().source.options())->header().frames > 1)
            return;
    } catch (const InvalidFile&) {
        return; // the error is reported with the results
    }
    throw InvalidTask(fmt::format(
        "{}: has one frame; if the {} files are one series, quote their pattern, such as '{}'",
        first.string(), each.size(),
        (first.parent_path() / "*").string() + first.extension().string()));
}

/// Returns everything that the results of a series depend on: the version, the options, and the
/// names, sizes and times of the files.
std::string identity_of(const RegisterCommand& one, const Record& options) {
    std::string identity = version();
    for (const Field& field : options.fields) {
        if (field.name != "series" && field.name != "more" && field.name != "json")
            identity += fmt::format("\n{}: {}", field.name, field.text());
    }
    std::vector<std::string> files = files_read(one.source, "", {});
    for (std::string& file : paths_of(one.detector, {}))
        files.push_back(std::move(file));
    for (const std::string& file : files) {
        std::error_code unknown;
        identity +=
            fmt::format("\n{}: {} {}", file, std::filesystem::file_size(file, unknown),
                        std::filesystem::last_write_time(file, unknown).time_since_epoch().count());
    }
    return identity;
}

/// Returns the division of the cores for the first series that can be read.
registration::Division division_for_several(std::span<const RegisterCommand> each,
                                            const Call& call) {
    for (const RegisterCommand& one : each) {
        try {
            return division_for(one, call);
        } catch (const InvalidFile&) {
            // The error is reported with the results.
        }
    }
    return {1, 1, 0};
}

/// Registers several series, each into its own folder in the output folder.
int run_several(const RegisterCommand& all, const Call& call) {
    const std::vector<std::string> series = all_series(all);
    const std::vector<std::string> folders = folders_of_series(series);
    std::vector<RegisterCommand> each(series.size(), all);
    for (std::size_t i = 0; i < series.size(); ++i) {
        const std::filesystem::path folder = std::filesystem::path(all.output) / folders[i];
        each[i].source.image = series[i];
        each[i].output = folder.string();
        each[i].reports = {"", all.reports.report.empty() ? "" : (folder / "report.html").string()};
    }
    check_several(all, each);
    create_folder(all.output);
    const registration::Division division = division_for_several(each, call);
    std::vector<SeriesTask> tasks;
    for (const RegisterCommand& one : each) {
        const auto run = [&](const Communicator& ranks, const std::string& label, bool shows) {
            return RegisterRun(one, ranks, division.threads, label, shows).run();
        };
        tasks.push_back({one.source.image, one.output, one.reports.report,
                         [&] { return identity_of(one, call.options); }, run});
    }
    std::atomic<bool> complete = true;
    launch_ranks(call, division.ranks, [&](const Communicator& ranks) {
        if (!register_all(ranks, tasks, all.registration.restart, all.reports, all.output))
            complete = false;
    });
    return complete ? 0 : 1;
}

int run_register(const RegisterCommand& given, const Call& call) {
    if (!given.movie.empty() && !given.movie.ends_with(".gif") && !given.movie.ends_with(".png"))
        throw InvalidTask(
            fmt::format("--movie {}: expected a name that ends in .gif or .png", given.movie));
    if (!given.more.empty())
        return run_several(given, call);
    if (!given.following.follow) {
        if (is_stream(given.source.image))
            throw InvalidFile(given.source.image,
                              "is a stream, whose frames can be read only once; add --follow");
    }
    const RegisterCommand command = given.following.follow ? followed(given) : given;
    const registration::Division division = division_for(command, call);
    launch_ranks(call, division.ranks, [&](Communicator communicator) {
        RegisterRun(command, std::move(communicator), division.threads).run();
    });
    return 0;
}

Record record_of(RegisterCommand& command) {
    Record record;
    Record source = record_of(command.source,
                              "a file of frames, a folder, a pattern or a list (docs/frames.md)");
    Field& series = source.without("frame")["image"];
    series.name = "series";
    series.value_name = "SERIES";
    record.include(std::move(source));
    const auto after_series = record.fields.begin() + 1;
    Record others;
    others
        .add("more", command.more, "SERIES...",
             "further series; results of x.mrc are written to DIR/x")
        .file()
        .positional();
    record.fields.insert(after_series, others.fields.front());
    declare_output(record, command.output, "DIR", "folder of the results (docs/registration.md)");
    record.include(record_of(command.aligned));
    record
        .add("movie", command.movie, "FILE", "write an animation of the aligned frames: .gif, .png")
        .file();
    record.add("format", command.format, "EXT", "file format of images")
        .one_of({"tif", "mrc", "npy"});
    declare_ranks(record, command.ranks, "1 with --threads, else chosen automatically");
    Record registration = record_of(command.registration);
    for (const char* field : {"recorded_mean", "checkpoint", "prefilter", "farthest", "tolerance"})
        registration.without(field);
    registration["threads"].none_is(1); // the default depends on the series
    record.include(std::move(registration));
    record.include(record_of(command.detector));
    record.include(record_of(command.following));
    record.include(record_of(command.reports));
    return record;
}

Effects effects_of(RegisterCommand& command) {
    Effects effects = sextant::effects_of(command.registration);
    const Effects of_detector = effects_of(command.detector);
    effects.insert(effects.end(), of_detector.begin(), of_detector.end());
    effects.insert(
        effects.end(),
        {{{"idle", "spool", "serve"},
          "only with --follow",
          [&] { return command.following.follow; }},
         {{"spool"},
          fmt::format("{} is not a stream: only frames of streams are stored",
                      command.source.image),
          [&] { return is_stream(command.source.image); }},
         {{"gap"}, "--aligned=off writes no frames", [&] { return command.aligned.when != "off"; }},
         effect_of_external(all_series(command))});
    return effects;
}

} // namespace

namespace {

std::string notes_of_register() {
    std::string notes =
        "Motions state how far the content has moved relative to the reference: to the right (tx), "
        "downward\n(ty) and clockwise (alpha). Frames are searched for motions of up to half a "
        "frame (or --max-shift)\nand rotations of up to --rotation; frames that overlap the "
        "reference by less than half are\nregistered through frames in between. Result images "
        "cover the reference; with --canvas union, all\naveraged frames; with --canvas common, "
        "the area that all of them share.\nFlags of frames, which transforms.csv and the report "
        "state, and the last lines of the output count:\n";
    for (const report::FrameFlag& flag : report::frame_flags())
        notes += fmt::format("  {:<14} {}\n", flag.name, flag.meaning);
    notes.pop_back();
    return notes;
}

} // namespace

Operation register_operation() {
    Operation operation = declare_command<RegisterCommand>(
        "register", "align the frames of a noisy series, and average them",
        "  sextant synthesize -o movie.mrc --frames 16\n"
        "  sextant register movie.mrc -o out --report out.html\n"
        "  mpirun -n 2 sextant register 'frames/a_*.tif' -o out --model nonrigid",
        run_register);
    static const std::string notes = notes_of_register();
    operation.notes = notes;
    return operation;
}

} // namespace sextant::command

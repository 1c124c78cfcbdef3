// SPDX-License-Identifier: BSD-3-Clause

#include "sextant/command/register.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/comm/waiting.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/options.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/format/frame_catalogue.hpp"
#include "sextant/registration/division.hpp"
#include "sextant/registration/refinement.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <list>
#include <memory>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <unistd.h>

namespace sextant::command {

namespace {

/// Parameters that name reports; "-" is standard output.
constexpr std::array report_names = {"report", "json"};

constexpr Bytes mebibyte = 1 << 20;

TextSink into(AtomicFile& file) {
    return [&file](std::string_view part) { file.write(part); };
}

/// One rank's run of `sextant register`. The output files appear together at the end; until then
/// results are kept in a checkpoint in the output folder.
class RegisterRun {
  public:
    /// Uses `threads` threads on this rank.
    RegisterRun(const Values& values, Communicator communicator, int threads)
        : values_(values),
          communicator_(std::move(communicator)),
          progress_(communicator_.rank() == 0) {
        summary_.team = threads;
    }

    /// Collective.
    void run() {
        std::unique_ptr<FrameSource> source;
        agree(communicator_, [&] { source = open(); });
        std::optional<TraceClocks> clocks;
        WorkLog log(communicator_.rank());
        if (values_.has("report"))
            clocks.emplace(communicator_);
        register_series(std::move(source), log);
        if (clocks)
            summary_.work = gather_work(communicator_, *clocks, log);
        if (communicator_.rank() == 0)
            report();
    }

  private:
    std::string path_of(const std::string& name) const {
        return (std::filesystem::path(summary_.output) / name).string();
    }

    /// Opens the series and checks the parameters.
    std::unique_ptr<FrameSource> open() {
        std::unique_ptr<FrameSource> source =
            format::open_frames(values_.text("series"), source_options(values_));
        header_ = source->header();
        summary_.output = values_.text("output");
        summary_.ranks = communicator_.size();
        summary_.transport = transport_of(communicator_);
        for (const std::string& remark : header_.remarks)
            summary_.warnings.push_back(fmt::format("{}: {}", source->path(), remark));
        SeriesTransforms& transforms = summary_.transforms;
        transforms.series = values_.text("series");
        transforms.model = values_.text("model");
        transforms.shape = header_.shape;
        transforms.pixel = header_.pixel;
        transforms.with_seconds = !values_.flag("reproducible");
        transforms.stages = static_cast<int>(values_.integer("stages"));
        if (communicator_.rank() == 0) {
            check_folder();
            if (transforms.model == "nonrigid")
                print_note(describe_field_storage(header_, transforms.stages));
            check_reports();
        }
        return source;
    }

    void check_folder() const {
        std::error_code unknown;
        const std::filesystem::path folder(summary_.output);
        if (std::filesystem::exists(folder, unknown)) {
            if (!std::filesystem::is_directory(folder, unknown))
                throw InvalidFile(summary_.output, "is no folder");
            return require_writable(path_of("transforms.json"));
        }
        const auto parent = std::filesystem::absolute(folder).lexically_normal().parent_path();
        const auto above = folder.has_filename() ? parent : parent.parent_path();
        if (!std::filesystem::is_directory(above, unknown))
            throw InvalidFile(summary_.output,
                              fmt::format("the folder {} does not exist", above.string()));
        if (access(above.c_str(), W_OK) != 0)
            throw InvalidFile(summary_.output,
                              fmt::format("the folder {} may not be written", above.string()));
    }

    /// The files to be written to the output folder.
    std::vector<std::string> results() const {
        std::vector<std::string> paths = {path_of("transforms.csv"), path_of("transforms.json")};
        for (const char* image : {"average", "median", "count"})
            paths.push_back(path_of(fmt::format("{}.{}", image, values_.text("format"))));
        if (values_.flag("aligned"))
            paths.push_back(path_of(fmt::format("aligned.{}", values_.text("format"))));
        if (values_.text("model") == "nonrigid")
            paths.push_back(path_of("fields.npy"));
        return paths;
    }

    /// Checks the reports, unless they go to the folder of the results, which is checked itself.
    void check_reports() const {
        std::vector<std::string> elsewhere, all = results();
        for (const std::string& path : files_given(values_, {"report", "json"})) {
            all.push_back(path);
            const std::filesystem::path folder(summary_.output);
            const auto parent = std::filesystem::path(path).parent_path();
            if (parent.lexically_normal() != (folder / "").lexically_normal().parent_path())
                elsewhere.push_back(path);
        }
        require_distinct(all);
        keep_inputs(format::files_of_frames(values_.text("series")), all);
        check_outputs(elsewhere);
    }

    RegistrationOptions options() const {
        RegistrationOptions options;
        if (values_.text("model") == "nonrigid")
            options.model = MotionModel::nonrigid;
        if (values_.has("reference"))
            options.reference = values_.integer("reference");
        options.stages = static_cast<int>(values_.integer("stages"));
        options.reproducible = values_.flag("reproducible");
        options.recorded_mean = values_.has("report");
        options.threads = summary_.team;
        options.memory = values_.integer("memory") * mebibyte;
        options.checkpoint = summary_.output;
        options.anew = values_.flag("anew");
        return options;
    }

    RunControl control() {
        return {.progress = [this](std::string_view part, std::int64_t done, std::int64_t all) {
            const bool divided = communicator_.size() > 1 && !part.starts_with("write ");
            progress_.say(divided ? fmt::format("{}, rank 0 of {}, which divide {} frames:", part,
                                                communicator_.size(), header_.frames)
                                  : std::string(part),
                          done, all);
        }};
    }

    void register_series(std::unique_ptr<FrameSource> source, WorkLog& log) {
        RegistrationHooks hooks;
        hooks.write = [this](const RegistrationResult& result, RegisteredFrames& frames) {
            write(result, frames);
        };
        hooks.resumed = [](std::size_t results) {
            print_note(fmt::format("goes on with an earlier run: {} results are known", results));
        };
        if (values_.has("report")) {
            hooks.worked = [&log](registration::Work work, Seconds begin, Seconds end) {
                log.add(work, begin, end);
            };
        }
        try {
            RegistrationOptions declared;
            naming_options(record_of(declared), [&] {
                summary_.result = SeriesRegistration(communicator_, options(), control())
                                      .run(std::move(source), hooks);
            });
        } catch (const AgreedFailure& failure) {
            std::string text = failure.what();
            if (text.ends_with("or begin anew"))
                text.insert(text.rfind("anew"), "--");
            throw AgreedFailure(text, failure.invalid_task());
        }
        summary_.result.frames.clear(); // rank 0 has copied them
    }

    std::unique_ptr<FrameSink> sink(const std::string& name, std::int64_t frames, double offset,
                                    Seconds interval = 0) {
        FrameHeader header;
        header.frames = frames;
        header.shape = header_.shape;
        header.pixel = header_.pixel;
        header.frame_interval = interval;
        const std::string path = path_of(fmt::format("{}.{}", name, values_.text("format")));
        header.sample = sample_with_offset(path, offset);
        summary_.files.push_back(path);
        return format::create_frames(path, header);
    }

    /// An image with the series' offset added again, but 0 at pixels without data.
    std::unique_ptr<FrameSink> image(const std::string& name, const std::vector<float>& pixels,
                                     const std::vector<float>& count, double offset) {
        std::unique_ptr<FrameSink> image = sink(name, 1, offset);
        if (image->header().sample == Sample::f32) {
            image->write(pixels);
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

    std::unique_ptr<FrameSink> aligned(RegisteredFrames& frames, double offset) {
        const auto numbers = frames.numbers();
        std::unique_ptr<FrameSink> stack =
            sink("aligned", std::ssize(numbers), offset, frame_interval_of(header_, numbers));
        for (const std::int64_t frame : numbers)
            write_with_offset(*stack, frames.aligned(frame), offset);
        return stack;
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
        }
        summary_.files.push_back(path_of("fields.npy"));
        return planes;
    }

    /// All files are complete on disk before any appears under its name.
    void write(const RegistrationResult& result, RegisteredFrames& frames) {
        const registration::Combined& average = result.average;
        if (result.offset != 0)
            summary_.warnings.push_back(
                fmt::format("{}: {}", values_.text("series"),
                            offset_remark(result.offset, "average." + values_.text("format"))));
        summary_.transforms.reference = result.reference;
        summary_.transforms.frames = result.frames;
        std::vector<std::unique_ptr<FrameSink>> sinks;
        sinks.push_back(image("average", average.mean, average.count, result.offset));
        sinks.push_back(image("median", average.median, average.count, result.offset));
        sinks.push_back(sink("count", 1, 0));
        sinks.back()->write(average.count);
        if (values_.flag("aligned"))
            sinks.push_back(aligned(frames, result.offset));
        if (values_.text("model") == "nonrigid")
            sinks.push_back(fields(frames));
        std::list<AtomicFile> tables;
        write_csv(summary_.transforms, into(tables.emplace_back(path_of("transforms.csv"))));
        write_json(summary_.transforms, into(tables.emplace_back(path_of("transforms.json"))));
        for (const auto& sink : sinks)
            sink->commit();
        for (AtomicFile& table : tables) {
            table.commit();
            summary_.files.push_back(table.path());
        }
    }

    void report() {
        progress_.clear();
        for (const FrameRegistration& frame : summary_.transforms.frames) {
            if (!frame.left_out.empty())
                summary_.warnings.push_back(fmt::format("{}: frame {} is left out: {}",
                                                        summary_.transforms.series, frame.frame,
                                                        frame.left_out));
        }
        if (values_.has("json"))
            write_text(values_.text("json"), to_json(summary_) + "\n");
        if (values_.has("report"))
            write_text(values_.text("report"), to_page(summary_));
        print_warnings(summary_.warnings);
        const bool taken =
            std::any_of(report_names.begin(), report_names.end(), [this](const char* name) {
                return values_.has(name) && values_.text(name) == standard_output;
            });
        if (!taken)
            print_text(to_text(summary_));
    }

    const Values& values_;
    const Communicator communicator_;
    Progress progress_;
    FrameHeader header_; ///< of the series
    RegisterSummary summary_;
};

/// The division of cores into ranks and threads: as given by the user or the launcher, else what is
/// expected to be fastest for the series.
registration::Division divided(const Values& values) {
    const auto asked = [&](const char* option) {
        return static_cast<int>(values.has(option) ? values.integer(option) : 1);
    };
    const bool launched = detect_launcher().launcher != Launcher::none;
    if (launched || values.has("threads") || values.has("team"))
        return {launched ? 0 : asked("threads"), asked("team"), 0};
    const int cores = std::clamp(Cores::available().count(), 1, most_threads);
    const FrameHeader header =
        format::open_frames(values.text("series"), source_options(values))->header();
    return registration::best_division(
        cores, header.frames,
        registration::usual_costs(header.shape, RegistrationOptions().farthest,
                                  values.text("model") == "nonrigid"));
}

int run_register(const Values& values) {
    const registration::Division division = divided(values);
    launch_ranks(
        values, division.ranks,
        [&](Communicator communicator) {
            RegisterRun(values, std::move(communicator), division.threads).run();
        },
        "threads");
    return 0;
}

std::vector<Parameter> parameters() {
    return {
        {.name = "series",
         .type = Type::file,
         .value = "SERIES",
         .help = "a file of frames, a folder, a pattern or a list (docs/frames.md)",
         .positional = true,
         .required = true},
        {.name = "output",
         .type = Type::file,
         .value = "DIR",
         .help = "results; tx, ty, alpha: how far right, down, clockwise content moved",
         .letter = 'o',
         .required = true},
        {.name = "model",
         .type = Type::choice,
         .value = "NAME",
         .fallback = "rigid",
         .help = "how frames move",
         .choices = {"rigid", "nonrigid"}},
        {.name = "reference",
         .type = Type::integer,
         .value = "N",
         .help = "frame that the others are registered to; default: the first fit one",
         .least = 0,
         .most = most_count},
        channel_parameter(),
        slice_parameter(),
        {.name = "stages",
         .type = Type::integer,
         .value = "N",
         .fallback = "2",
         .help = "each but the first registers to the average of the one before",
         .least = 1,
         .most = 100},
        {.name = "aligned",
         .type = Type::flag,
         .help = "write the registered frames too, NaN where they show nothing"},
        {.name = "format",
         .type = Type::choice,
         .value = "EXT",
         .fallback = "tif",
         .help = "of images",
         .choices = {"tif", "mrc", "npy"}},
        {.name = "threads",
         .type = Type::integer,
         .value = "N",
         .help = "ranks, which take frames; default, with --team: as is fastest here",
         .least = 1,
         .most = most_threads},
        {.name = "team",
         .type = Type::integer,
         .value = "N",
         .help = "threads of a rank, which share the rows of one frame",
         .least = 1,
         .most = most_threads},
        {.name = "reproducible",
         .type = Type::flag,
         .help = "the same bits each time on as many threads or ranks"},
        {.name = "memory",
         .type = Type::integer,
         .value = "MIB",
         .fallback = "64",
         .help = "a thread, for the samples that a median is taken of",
         .least = 1,
         .most = 1 << 20},
        external_parameter(),
        {.name = "anew", .type = Type::flag, .help = "do not go on with a run that ended early"},
        {.name = "report",
         .type = Type::file,
         .value = "FILE",
         .help = "write a page of drift, fit and average (HTML); - for standard output"},
        {.name = "json",
         .type = Type::file,
         .value = "FILE",
         .help = "write what ran as JSON; - for standard output"}};
}

} // namespace

Operation register_operation() {
    return {"register", "register a series of noisy frames to one another, and average them",
            "  sextant register movie.mrc -o out --aligned\n"
            "  mpirun -n 2 sextant register 'frames/a_*.tif' -o out --model nonrigid",
            parameters(), run_register};
}

} // namespace sextant::command

// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/composite.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/core/error.hpp"
#include "sextant/format/atomic_file.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/kernel/catalogue.hpp"
#include "sextant/kernel/convert.hpp"
#include "sextant/operation/colour.hpp"
#include "sextant/operation/composite_report.hpp"
#include "sextant/operation/compositor.hpp"
#include "sextant/operation/inputs.hpp"
#include "sextant/operation/progress.hpp"
#include "sextant/operation/tuning.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

constexpr int most_threads = 1024;

/// Which images a rank brings: a contiguous run in visibility order.
struct Share {
    std::size_t first = 0, last = 0;
};

Share share_of(std::size_t images, int rank, int ranks) {
    const auto cut = [&](int r) {
        return images * static_cast<std::size_t>(r) / static_cast<std::size_t>(ranks);
    };
    return {cut(rank), cut(rank + 1)};
}

/// "render=2.5,build=40" as phases.
std::vector<CompositeSummary::Phase> phases_before(const std::string& text) {
    std::vector<CompositeSummary::Phase> phases;
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        const std::size_t equals = part.find('=');
        char* end = nullptr;
        const double seconds =
            equals == std::string::npos ? -1 : std::strtod(part.c_str() + equals + 1, &end);
        if (!(seconds >= 0) || *end != '\0' || equals == 0) {
            throw InvalidTask(fmt::format("--before {}: expected NAME=SECONDS,...", text));
        }
        phases.push_back({part.substr(0, equals), seconds});
    }
    return phases;
}

/// What --element means: with depth for operators that need it.
ElementFormat element_from(const std::string& name, const std::string& blend) {
    struct Row {
        std::string_view name;
        ElementFormat colour, with_depth;
    };
    static constexpr Row rows[] = {{"f32", rgba_f32, rgba_depth_f32},
                                   {"f16", rgba_f16, rgba_f16},
                                   {"u8", rgba_u8, rgba_u8_depth_f32}};
    const Row& row = *std::find_if(std::begin(rows), std::end(rows),
                                   [&](const Row& each) { return each.name == name; });
    const bool depth = has_depth(kernel::find_family(blend).operators[0].element);
    return depth ? row.with_depth : row.colour;
}

CompositeOptions options_from(const Values& values, const ElementFormat& element) {
    CompositeOptions options;
    options.algorithm = values.text("algorithm");
    const compositing::Tuning tuning = tuning_from(values);
    options.radices = tuning.radices;
    options.window = tuning.window;
    options.blend = values.text("operator");
    if (options.blend == "auto")
        options.blend = element == rgba_depth_f32 ? "nearest" : "over";
    options.element = element_from(values.text("element"), options.blend);
    if (values.has("background"))
        options.background = parse_colour(values.text("background"));
    if (values.text("association") == "by-arrival")
        options.association = Association::by_arrival;
    options.trace = values.has("report");
    return options;
}

/// One rank's way through the operation. Each phase is agreed on, so that a failure anywhere ends
/// all ranks with the same message.
class CompositeRun {
  public:
    CompositeRun(const Values& values, Communicator communicator)
        : values_(values),
          communicator_(std::move(communicator)),
          progress_(communicator_.rank() == 0) {}

    void run() {
        agree(communicator_, [&] { summary_.phases = phases_before(values_.text("before")); });
        phase("read", [&] { read(); });
        gather_oddities();
        phase("plan", [&] { plan(); });
        phase("composite", [&] { frame_ = compositor_->composite(images_.bytes()); });
        gather_trace();
        phase("write", [&] {
            if (communicator_.rank() == 0)
                write();
        });
        agree(communicator_, [&] {
            if (communicator_.rank() == 0)
                report();
        });
    }

  private:
    void phase(const char* name, const std::function<void()>& part) {
        progress_.say(name);
        const auto begin = std::chrono::steady_clock::now();
        agree(communicator_, part);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        summary_.phases.push_back({name, took.count()});
    }

    void read() {
        inputs_ = find_inputs(values_.texts("inputs"), values_.integers("order"));
        options_ = options_from(values_, inputs_.header.element);
        const Share share =
            share_of(inputs_.paths.size(), communicator_.rank(), communicator_.size());
        layers_ = static_cast<int>(share.last - share.first);
        images_ = read_inputs(inputs_, share.first, share.last,
                              kernel::find(options_.blend, *options_.element).element, oddities_);
    }

    /// Warnings are printed once, by rank 0.
    void gather_oddities() {
        struct Line {
            char text[256];
        };
        const std::vector<int> counts =
            communicator_.all_gather(static_cast<int>(oddities_.size()));
        const int most = *std::max_element(counts.begin(), counts.end());
        for (int i = 0; i < most; ++i) {
            Line mine{};
            if (i < counts[static_cast<std::size_t>(communicator_.rank())]) {
                std::strncpy(mine.text, describe(oddities_[static_cast<std::size_t>(i)]).c_str(),
                             sizeof mine.text - 1);
            }
            for (const Line& line : communicator_.all_gather(mine)) {
                if (line.text[0])
                    summary_.warnings.emplace_back(line.text);
            }
        }
    }

    static std::string describe(const Oddity& oddity) {
        std::string text = oddity.path + ":";
        if (oddity.check.not_a_number > 0) {
            text += fmt::format(" {} pixels are not a number;", oddity.check.not_a_number);
        }
        if (oddity.check.not_premultiplied > 0) {
            text += fmt::format(" {} pixels are not premultiplied by their opacity;",
                                oddity.check.not_premultiplied);
        }
        return text + " used as they are";
    }

    void plan() { compositor_.emplace(communicator_, inputs_.header.shape, layers_, options_); }

    /// All ranks' events on one time axis. Threads have one clock; processes may be on several
    /// hosts, so each counts from its own start.
    void gather_trace() {
        if (!options_.trace)
            return;
        const Trace& own = compositor_->trace();
        const std::vector<Seconds> origins = communicator_.all_gather(own.origin);
        const Seconds origin = *std::min_element(origins.begin(), origins.end());
        const std::vector<int> counts =
            communicator_.all_gather(static_cast<int>(own.events.size()));
        const int most = *std::max_element(counts.begin(), counts.end());
        for (int i = 0; i < most; ++i) {
            const auto index = static_cast<std::size_t>(i);
            const auto all =
                communicator_.all_gather(index < own.events.size() ? own.events[index] : Event{});
            for (std::size_t r = 0; r < all.size(); ++r) {
                if (i >= counts[r])
                    continue;
                Event event = all[r];
                const Seconds late = communicator_.shares_memory() ? origins[r] - origin : 0;
                event.begin += late;
                event.end += late;
                summary_.trace.events.push_back(event);
                summary_.trace.duration = std::max(summary_.trace.duration, event.end);
            }
        }
    }

    /// As it is where the file can hold it, else in floats; the report shows floats.
    void write() {
        const ElementFormat& element = compositor_->blend().element;
        const ImageShape shape = inputs_.header.shape;
        picture_ = Image(shape, has_depth(element) ? rgba_depth_f32 : rgba_f32);
        kernel::convert(element, frame_.bytes, picture_.element(), picture_.bytes());
        const std::string path = values_.text("output");
        if (element == rgba_f16 && format::format_of(path).halves) {
            Image halves(shape, element);
            std::memcpy(halves.bytes().data(), frame_.bytes.data(), frame_.bytes.size());
            format::write_image(path, halves);
        } else {
            format::write_image(path, picture_);
        }
    }

    void report() {
        progress_.clear();
        fill_summary();
        if (values_.has("json"))
            write_text(values_.text("json"), to_json(summary_) + "\n");
        if (values_.has("report")) {
            format::write_file(values_.text("report"), to_page(summary_, picture_));
        }
        for (const std::string& warning : summary_.warnings) {
            std::fputs(fmt::format("sextant: warning: {}\n", warning).c_str(), stderr);
        }
        if (values_.text("json") != "-")
            std::fputs(to_text(summary_).c_str(), stdout);
    }

    static void write_text(const std::string& path, const std::string& text) {
        if (path == "-")
            std::fputs(text.c_str(), stdout);
        else
            format::write_file(path, text);
    }

    void fill_summary() {
        summary_.inputs = inputs_.paths;
        summary_.output = values_.text("output");
        summary_.shape = inputs_.header.shape;
        summary_.ranks = communicator_.size();
        summary_.transport = communicator_.shares_memory() ? "threads" : mpi_of_build();
        summary_.blend = compositor_->blend().name;
        summary_.element = compositor_->blend().element.name;
        summary_.association = name(options_.association);
        summary_.background = values_.text("background");
        summary_.plan = compositor_->plan();
        summary_.task = compositor_->task();
    }

    const Values& values_;
    const Communicator communicator_;
    Progress progress_;
    Inputs inputs_;
    CompositeOptions options_;
    int layers_ = 0;
    Memory images_;
    std::vector<Oddity> oddities_;
    std::optional<Compositor> compositor_;
    Frame frame_;
    Image picture_;
    CompositeSummary summary_;
};

int run_composite(const Values& values) {
    int ranks = static_cast<int>(values.has("ranks") ? values.integer("ranks") : 0);
    if (ranks == 0 && detect_launcher().launcher == Launcher::none) {
        const Inputs inputs = find_inputs(values.texts("inputs"), values.integers("order"));
        ranks = static_cast<int>(std::min<std::size_t>(inputs.paths.size(), most_threads));
    }
    launch(ranks, [&](Communicator communicator) {
        if (values.has("ranks") && communicator.size() != values.integer("ranks")) {
            throw AgreedFailure(
                fmt::format("--ranks {} under a launcher that started {} processes; "
                            "leave it out",
                            values.integer("ranks"), communicator.size()),
                true);
        }
        CompositeRun(values, std::move(communicator)).run();
    });
    return 0;
}

} // namespace

Operation composite_operation() {
    return {
        "composite",
        "blend partial images, one or more a rank, into one picture",
        "  sextant composite brain/manifest.json -o brain.png --background white\n"
        "  mpirun -n 4 sextant composite part*.exr -o frame.exr --algorithm radix-k --radices 2,2",
        {{"inputs", Type::files, "IN...", "", "EXR, PNG or raw images, or one manifest.json", 0,
          true, true},
         {"output", Type::file, "OUT", "", "the picture, EXR or PNG", 'o', false, true},
         {"algorithm", Type::text, "NAME", "auto", "or a name of 'sextant list algorithms'"},
         radices_parameter(),
         window_parameter(),
         {"operator", Type::text, "NAME", "auto",
          "over, nearest, add or max; auto: nearest where images have depth"},
         {"element",
          Type::choice,
          "TYPE",
          "f32",
          "what colours are blended in: floats, halves or bytes",
          0,
          false,
          false,
          {"f32", "f16", "u8"}},
         {"order",
          Type::integers,
          "I,I,...",
          "",
          "images front to back; default: as given",
          0,
          false,
          false,
          {},
          0,
          1 << 30},
         {"background", Type::text, "COLOUR", "", "white, #rrggbb or r,g,b[,a]; default: none"},
         {"ranks",
          Type::integer,
          "N",
          "",
          "threads; default: one an image",
          0,
          false,
          false,
          {},
          1,
          most_threads},
         {"association",
          Type::choice,
          "HOW",
          "in-order",
          "how operands are bracketed",
          0,
          false,
          false,
          {"in-order", "by-arrival"}},
         {"json", Type::file, "FILE", "", "write what ran as JSON; - for standard output"},
         {"report", Type::file, "FILE", "", "write a page that shows the run (HTML)"},
         {"before", Type::text, "NAME=S,...", "", "for the report: earlier phases, seconds"}},
        run_composite};
}

} // namespace sextant::operation

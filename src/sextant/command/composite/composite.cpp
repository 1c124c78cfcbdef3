// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/command/composite/composite.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/pages/trace_clocks.hpp"
#include "sextant/compositor/deep_compositor.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/progress.hpp"
#include "sextant/core/text.hpp"
#include "sextant/format/catalogue.hpp"
#include "sextant/format/raw.hpp"
#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/kernel/fold/pixel_formats.hpp"
#include "sextant/kernel/fold/sparse_code.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace sextant::command {

namespace {

/// The block of images of one rank: consecutive images in visibility order.
struct Share {
    std::size_t first = 0, last = 0;
};

Share share_of(std::size_t images, int rank, int ranks) {
    const auto cut = [&](int r) {
        return images * static_cast<std::size_t>(r) / static_cast<std::size_t>(ranks);
    };
    return {cut(rank), cut(rank + 1)};
}

std::string describe(const Oddity& oddity) {
    std::string text = oddity.path + ":";
    const auto add = [&](const char* what, Elements pixels) {
        if (pixels > 0)
            text += fmt::format(" {}: {};", what, report::counted(pixels, "pixel"));
    };
    add("not a number", oddity.check.not_a_number);
    add("not premultiplied (a colour below 0 or above its opacity, or an opacity outside 0 to 1)",
        oddity.check.not_premultiplied);
    return text + " these pixels are used unchanged";
}

/// Runs `sextant composite` on one rank. All ranks agree on the result of each phase, so that a
/// failure on any rank ends all ranks with the same message. Parameters are checked before any
/// input is read. If the run is traced or reported, the frame is composited twice and only the
/// second time is traced, because the first time includes page faults, which predictions exclude.
class CompositeRun {
  public:
    /// `inputs`: the images if this process has already found them; null otherwise.
    CompositeRun(const CompositeCommand& command, const Call& call, Communicator communicator,
                 std::shared_ptr<const Inputs> inputs)
        : command_(command),
          call_(call),
          communicator_(std::move(communicator)),
          progress_(communicator_.rank() == 0),
          inputs_(std::move(inputs)) {}

    /// Collective.
    void run() {
        agree(communicator_, [&] { check(); });
        naming_options(call_.options, [&] { agree(communicator_, [&] { offer_sharing(); }); });
        phase("read", [&] { read(); });
        gather_warnings();
        if (options_.trace)
            clocks_.emplace(communicator_); // before planning, because planning may include a race
        phase("plan", [&] { plan(); });
        phase("composite", [&] { blend(); });
        if (options_.trace && !raced_)
            phase("again", [&] { blend(); });
        gather_events();
        JointCommit together;
        phase("write", [&] {
            if (is_root())
                write();
        });
        agree(communicator_, [&] {
            if (is_root())
                report();
            together.commit();
        });
    }

  private:
    bool is_root() const { return communicator_.rank() == 0; }
    const Compositor& compositor() const { return deep_ ? deep_->compositor() : *flat_; }

    void phase(const char* name, const std::function<void()>& part) {
        progress_.say(name);
        const auto begin = std::chrono::steady_clock::now();
        agree(communicator_, part);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        summary_.phases.push_back({name, took.count()});
    }

    /// Decides whether to use shared memory. Called before the images are read, because they are
    /// read directly into the memory from which they are blended.
    void offer_sharing() {
        OfferedSharing offered = sextant::offer_sharing(command_.shared_memory, communicator_);
        shared_ = std::move(offered.shared);
        sharing_ = std::move(offered.choice);
        if (!offered.warning.empty())
            summary_.warnings.push_back(offered.warning);
    }

    void read() {
        if (!inputs_)
            inputs_ = std::make_shared<Inputs>(find_inputs(command_.inputs, command_.order));
        if (is_root())
            check_inputs_kept();
        options_ = options_for(command_, inputs_->header.element);
        const Share share =
            share_of(inputs_->paths.size(), communicator_.rank(), communicator_.size());
        layers_ = static_cast<int>(share.last - share.first);
        if (options_.blend == "deep") {
            deep_images_ = read_deep_inputs(*inputs_, share.first, share.last);
            return;
        }
        images_ = read_inputs(*inputs_, share.first, share.last,
                              kernel::find(options_.blend, *options_.element).element,
                              shared_ ? *shared_ : communicator_, oddities_);
    }

    /// Collects the warnings of all ranks, one line per image; rank 0 prints them.
    void gather_warnings() {
        std::string local;
        for (const Oddity& oddity : oddities_)
            local += describe(oddity) + "\n";
        for (const std::string& text : all_gather_texts(communicator_, local)) {
            std::istringstream lines(text);
            for (std::string line; std::getline(lines, line);)
                summary_.warnings.push_back(line);
        }
    }

    void take_density() {
        const Operator& op = kernel::find(options_.blend, *options_.element);
        options_.density = density();
        options_.drawn = kernel::sampled_bands(images_.bytes(), inputs_->header.shape.elements(),
                                               op, planner::drawn_bands);
    }

    /// Returns the mean density of all images, on every rank. Collective.
    double density() const {
        const Operator& op = kernel::find(options_.blend, *options_.element);
        struct Sum {
            double drawn, images;
        };
        const double images = layers_, own = kernel::sampled_density(images_.bytes(), op);
        Sum all{0, 0};
        for (const Sum& each : communicator_.all_gather(Sum{own * images, images}))
            all = {all.drawn + each.drawn, all.images + each.images};
        return all.images > 0 ? all.drawn / all.images : 1;
    }

    /// Plans. If a race is requested, also races the candidates until one is chosen. The race ends
    /// after the same frame on all ranks; a frame that fails on any rank ends the race on all
    /// ranks.
    void plan() {
        if (options_.blend == "deep")
            fragments_ =
                std::max(1, most_fragments(communicator_, inputs_->header.shape, deep_images_));
        else
            take_density();
        make_compositor(shared_ ? *shared_ : communicator_);
        weigh_sharing();
        raced_ = compositor().racing();
        while (compositor().racing())
            agree(communicator_, [&] { blend(); });
    }

    /// If the options do not determine whether ranks on the same node share memory, chooses the
    /// variant that is predicted to be faster. Planning again for the same communicator is cheap.
    void weigh_sharing() {
        if (!shared_ || sharing_.settled)
            return;
        const std::optional<Seconds> shared = compositor().plan().expected();
        make_compositor(communicator_);
        sharing_ = choose_sharing(communicator_, shared, compositor().plan().expected());
        if (sharing_.shares)
            make_compositor(*shared_);
    }

    void make_compositor(const Communicator& communicator) {
        const ImageShape shape = inputs_->header.shape;
        if (options_.blend != "deep") {
            flat_.emplace(communicator, shape, layers_, options_);
            return;
        }
        deep_.emplace(communicator, shape, layers_, fragments_, options_);
    }

    void blend() {
        frame_ = deep_ ? deep_->composite(deep_images_) : flat_->composite(images_.bytes());
    }

    /// Returns the format of the composited image; deep pixels have been blended to RGBA.
    const ElementFormat& picture_element() const {
        return deep_ ? rgba_f32 : flat_->blend().element;
    }

    void gather_events() {
        if (!clocks_)
            return;
        GatheredTrace gathered = clocks_->gather(compositor().trace());
        summary_.trace = std::move(gathered.trace);
        summary_.clocks = gathered.clocks;
        summary_.aligned = std::move(gathered.aligned);
        if (!command_.reports.report.empty())
            agree(communicator_, [&] { summary_.prediction = compositor().prediction(); });
    }

    /// Writes the image in its own element format if the file format supports it, else as f32. The
    /// report shows f32.
    void write() {
        const ElementFormat& element = picture_element();
        const ImageShape shape = inputs_->header.shape;
        picture_ = Image(shape, has_depth(element) ? rgba_depth_f32 : rgba_f32);
        kernel::convert(element, frame_.bytes, picture_.element(), picture_.bytes());
        const std::string path = command_.output;
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
        if (!command_.trace.empty())
            write_trace(command_.trace, measured(summary_));
        const std::string& plan = command_.composite.plan;
        if (saves_plan_)
            write_text(plan, planner::to_json(summary_.plan) + "\n");
        const bool printed =
            command_.trace == standard_output || (saves_plan_ && plan == standard_output);
        write_reports(command_.reports, summary_.warnings,
                      command_.reports.json.empty() ? "" : to_json(summary_),
                      printed ? "" : to_text(summary_),
                      command_.reports.report.empty() ? "" : to_page(summary_, picture_));
    }

    void fill_summary() {
        summary_.inputs = inputs_->paths;
        summary_.output = command_.output;
        summary_.shape = inputs_->header.shape;
        summary_.ranks = communicator_.size();
        summary_.transport = transport_of(communicator_);
        summary_.sharing = sharing_;
        summary_.blend = compositor().blend().name;
        summary_.element = compositor().blend().element.name;
        summary_.element_size = compositor().blend().element.size;
        summary_.frame = raced_ ? "median times in the race of candidates" : "the second frame";
        summary_.association = name(options_.association);
        summary_.background = call_.options.find("background")->text();
        summary_.plan = compositor().plan();
        for (const std::string& warning : compositor().warnings())
            summary_.warnings.push_back(warning);
        if (command_.race && !raced_)
            summary_.warnings.push_back(
                !command_.composite.plan.empty() && !saves_plan_
                    ? "no race of candidates: the plan specifies the configuration"
                    : "no race of candidates: no other configuration is likely to be as fast");
        summary_.task = compositor().task();
    }

    /// Throws InvalidTask if an option contradicts the plan file.
    void check_against_plan() const {
        const CompositeOptions& options = command_.composite;
        const planner::CompositingPlan plan = planner::read_plan(options.plan);
        const auto require = [&](const char* name, bool same) {
            const Field& field = *call_.options.find(name);
            if (call_.has(name) && field.text() != "auto" && !same)
                throw InvalidTask(
                    fmt::format("{} {}: the plan {} has {}; omit the option or the plan",
                                field.called(), field.text(), options.plan, plan.text()));
        };
        const auto& [algorithm, tuning, sparse] = plan.configuration;
        require("algorithm", algorithm->name == options.algorithm);
        require("radices", tuning.radices == options.radices);
        require("window", tuning.window == options.window);
        require("sparse", sparse == (options.sparse == planner::Sparse::on));
        require("interlace",
                (tuning.interlace > 0) == (options.interlace == planner::Interlace::on));
    }

    /// Checks the options before any input is read. Only rank 0 writes files.
    void check() {
        check_picture_name(command_.output);
        const std::string& plan = command_.composite.plan;
        saves_plan_ = !plan.empty() && !std::filesystem::exists(plan);
        if (!plan.empty() && !saves_plan_)
            check_against_plan();
        if (is_root())
            check_outputs(outputs());
    }

    std::vector<std::string> outputs() const {
        return files_named({command_.output, command_.reports.json, command_.reports.report,
                            command_.trace, saves_plan_ ? command_.composite.plan : ""});
    }

    /// Refuses to overwrite inputs. Called after any manifest has been read, because its images are
    /// inputs too.
    void check_inputs_kept() const {
        std::vector<std::string> read = inputs_->paths;
        read.insert(read.end(), command_.inputs.begin(), command_.inputs.end());
        if (!inputs_->from_manifest) {
            for (const std::string& path : inputs_->paths) {
                if (std::string manifest = format::manifest_beside(path); !manifest.empty())
                    read.push_back(std::move(manifest));
            }
        }
        for (const std::string& name :
             files_named({command_.composite.machine, command_.composite.plan}))
            read.push_back(name);
        keep_inputs(read, outputs());
    }

    const CompositeCommand& command_;
    const Call& call_;
    const Communicator communicator_;
    std::optional<Communicator> shared_; // set if the ranks of a node can share memory
    Progress progress_;
    std::shared_ptr<const Inputs> inputs_;
    CompositeOptions options_;
    std::optional<TraceClocks> clocks_; ///< set if the run is traced
    NodeSharingChoice sharing_;
    int layers_ = 0, fragments_ = 0;
    Memory images_;
    std::vector<DeepImage> deep_images_; // used instead of images_ for deep images
    std::vector<Oddity> oddities_;
    std::optional<Compositor> flat_; // empty for deep images, for which deep_ is used
    std::optional<DeepCompositor> deep_;
    Frame frame_;
    Image picture_;
    CompositeSummary summary_;
    bool saves_plan_ = false, raced_ = false;
};

int run_composite(const CompositeCommand& command, const Call& call) {
    int ranks = static_cast<int>(command.ranks.value_or(0));
    std::shared_ptr<const Inputs> inputs; // set if ranks are threads, which share the inputs
    if (detect_launcher().launcher == Launcher::none) {
        inputs = std::make_shared<Inputs>(find_inputs(command.inputs, command.order));
        if (ranks == 0)
            ranks = static_cast<int>(std::min<std::size_t>(inputs->paths.size(), most_threads));
    }
    launch_ranks(call, ranks, [&](Communicator communicator) {
        CompositeRun(command, call, std::move(communicator), inputs).run();
    });
    return 0;
}

} // namespace

Record record_of(CompositeCommand& command) {
    Record record;
    record
        .add("inputs", command.inputs, "IN...",
             "EXR (also deep), PNG or raw images, front to back, or one manifest.json")
        .file()
        .positional()
        .required();
    declare_output(record, command.output, "OUT",
                   "the composited image; formats: see 'sextant list formats'");
    Record composite = record_of(command.composite);
    for (const char* name : {"element", "fragments", "order", "root", "frames", "density", "trace"})
        composite.without(name);
    composite["operator"].meaning += "; auto: depends on the images";
    composite["plan"].meaning += "; if the file does not exist, write it";
    composite["plan"].differs = false; // like other files, may differ between ranks
    offer_no_probe(composite, command.composite.probing);
    record.include(std::move(composite));
    record.add("element", command.element, "TYPE", "pixel element type for blending")
        .one_of({"f32", "f16", "u8"});
    record
        .add("order", command.order, "I,I,...",
             "visibility order of the images, front to back; default: as given")
        .between(0, 1 << 30);
    declare_ranks(record, command.ranks, "one per image");
    declare_shared_memory(record, command.shared_memory);
    record.add("race", command.race,
               "time the best two or three candidates on these images; use the fastest");
    record.include(record_of(command.reports));
    record
        .add("trace", command.trace, "FILE", "write a trace of all ranks, as JSON (docs/trace.md)")
        .file();
    return record;
}

Effects effects_of(CompositeCommand& command) {
    Effects effects = with_no_probe(sextant::effects_of(command.composite));
    effects.push_back({{"machine", "no_probe"},
                       "the algorithm is given (--algorithm or --plan), and there is no --report",
                       [&] {
                           const CompositeOptions& options = command.composite;
                           return (options.algorithm == "auto" && !is_saved(options.plan)) ||
                                  !command.reports.report.empty();
                       }});
    return effects;
}

Operation composite_operation() {
    return declare_command<CompositeCommand>(
        "composite", "blend the partial images of many ranks into one image",
        "  sextant composite brain/manifest.json -o brain.png --background white\n"
        "  mpirun -n 2 sextant composite part*.exr -o frame.exr --algorithm radix-k --radices 2",
        run_composite);
}

namespace {

/// The number of frames assumed by --race: that of a long-running program.
constexpr int frames_of_a_race = 1000;

/// Returns the operator's name, with "auto" resolved. Throws InvalidTask if "deep" is used for flat
/// images or another operator for deep images.
std::string operator_for(const std::string& name, const ElementFormat& element) {
    const bool deep = is_deep(element);
    if (name == "auto")
        return deep ? "deep" : element == rgba_depth_f32 ? "nearest" : "over";
    if (deep && name != "deep")
        throw InvalidTask(
            fmt::format("--operator {}: expected deep or auto, because the images are deep", name));
    if (!deep && name == "deep")
        throw InvalidTask("--operator deep: the images are flat, expected deep images");
    return name;
}

} // namespace

CompositeOptions options_for(const CompositeCommand& command, const ElementFormat& element) {
    CompositeOptions options = command.composite;
    options.blend = operator_for(options.blend, element);
    if (options.blend != "deep")
        options.element = element_named(command.element, options.blend);
    else if (command.element != "f32")
        throw InvalidTask(fmt::format("--element {}: expected f32, because the images are deep",
                                      command.element));
    options.frames = command.race ? frames_of_a_race : 1;
    options.trace = !command.trace.empty() || !command.reports.report.empty();
    return options;
}

ElementFormat element_named(const std::string& name, const std::string& blend) {
    struct Row {
        std::string_view name;
        ElementFormat colour, with_depth;
    };
    static constexpr Row rows[] = {{"f32", rgba_f32, rgba_depth_f32},
                                   {"f16", rgba_f16, rgba_f16},
                                   {"u8", rgba_u8, rgba_u8_depth_f32}};
    const Row& row = find_by_name<Row>("pixel format", name, rows);
    const bool depth = has_depth(kernel::find_family(blend).operators.front().element);
    return depth ? row.with_depth : row.colour;
}

} // namespace sextant::command

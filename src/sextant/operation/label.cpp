// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/label.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/contour/frontier.hpp"
#include "sextant/distributed/components.hpp"
#include "sextant/distributed/sample_view.hpp"
#include "sextant/format/atomic_file.hpp"
#include "sextant/format/frame_catalogue.hpp"
#include "sextant/operation/launch_ranks.hpp"
#include "sextant/operation/merging_plan.hpp"
#include "sextant/operation/outputs.hpp"
#include "sextant/operation/progress.hpp"
#include "sextant/operation/provenance.hpp"
#include "sextant/operation/tiled.hpp"
#include "sextant/report/text.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::operation {

namespace {

kernel::Connection connection_from(const Values& values) {
    return {values.text("neighbours") == "4" ? kernel::Neighbours::four : kernel::Neighbours::eight,
            values.flag("by-value") ? kernel::Sameness::value : kernel::Sameness::foreground};
}

/// How many pixels of a tile are not background, of so many as its border has: what it would tell
/// others, if they were spread evenly.
Elements entries_expected(const distributed::Image& image) {
    const Tile tile = image.tile();
    if (tile.elements() == 0)
        return 0;
    const Elements inside = std::visit(
        [&](const auto* first) -> Elements {
            return tile.elements() - std::count(first, first + tile.elements(), 0);
        },
        distributed::sample_view(image).first);
    return 2 * (tile.width + tile.height) * inside / tile.elements();
}

/// label,area,x,y,width,height,centroid_x,centroid_y: a row for each component.
void write_table(const std::string& path, const std::vector<kernel::Component>& components) {
    std::string text = "label,area,x,y,width,height,centroid_x,centroid_y\n";
    for (std::size_t i = 0; i < components.size(); ++i) {
        const kernel::Component& each = components[i];
        text += fmt::format("{},{},{},{},{},{},{},{}\n", i + 1, each.area, each.box.x, each.box.y,
                            each.box.width, each.box.height, each.x(), each.y());
    }
    write_text(path, text);
}

/// One rank's way through `sextant label`.
class LabelRun {
  public:
    LabelRun(const Values& values, Communicator communicator)
        : values_(values),
          communicator_(std::move(communicator)),
          progress_(communicator_.rank() == 0) {}

    void run() {
        agree(communicator_, [&] { open(); });
        std::optional<distributed::Image> image;
        timed(read_, [&] {
            agree(communicator_, [&] {
                image = distributed::read_tiles(
                    communicator_, grid_of(values_, source_->shape(), communicator_.size()),
                    *source_);
            });
        });
        plan_ = planned_merging(communicator_, values_, image->grid(), entries_expected(*image),
                                sizeof(contour::BorderPixel));
        progress_.say("label");
        std::optional<Labelled> labelled;
        timed(label_, [&] {
            labelled = label_components(*image, connection_from(values_), *plan_.pattern);
        });
        timed(write_, [&] { write(*labelled); });
        agree(communicator_, [&] {
            if (tells())
                report(*labelled);
        });
    }

  private:
    bool tells() const { return communicator_.rank() == 0; }

    /// All that can be known to go wrong before anything is labelled. Only rank 0 writes.
    void open() {
        source_ = open_image(values_);
        grid_of(values_, source_->shape(), communicator_.size());
        check_pattern(values_);
        if (!tells())
            return;
        std::vector<std::string> outputs = {values_.text("output")};
        for (const char* name : {"table", "json"}) {
            if (values_.has(name))
                outputs.push_back(values_.text(name));
        }
        check_outputs(outputs);
        FrameHeader header;
        header.frames = 1;
        header.shape = source_->shape();
        header.sample = Sample::u32;
        header.pixel = source_->header().pixel;
        sink_ = format::create_frames(values_.text("output"), header);
    }

    void write(const Labelled& labelled) {
        const Image whole = distributed::gather(labelled.labels);
        const std::vector<kernel::Component> components =
            values_.has("table") ? gather_components(labelled) : std::vector<kernel::Component>();
        agree(communicator_, [&] {
            if (!tells())
                return;
            sink_->write_samples(whole.bytes());
            sink_->commit();
            if (values_.has("table"))
                write_table(values_.text("table"), components);
        });
    }

    void report(const Labelled& labelled) {
        progress_.clear();
        for (const std::string& remark : source_->header().remarks)
            std::fputs(fmt::format("sextant: warning: {}\n", remark).c_str(), stderr);
        if (values_.has("json"))
            write_text(values_.text("json"), as_json(labelled) + "\n");
        if (!values_.has("json") || values_.text("json") != standard_output)
            std::fputs(as_text(labelled).c_str(), stdout);
    }

    std::string transport() const {
        return communicator_.shares_memory() ? "threads" : mpi_of_build();
    }

    std::string as_text(const Labelled& labelled) const {
        const Grid& grid = labelled.labels.grid();
        return fmt::format(
            "{}: {} of {}x{} pixels, on {} of {}\n"
            "{}x{} tiles, merged by {} ({})\n"
            "read {:.1f} ms  label {:.1f} ms  write {:.1f} ms\n",
            values_.text("output"), report::counted(labelled.components, "component"), grid.width,
            grid.height, report::counted(communicator_.size(), "rank"), transport(), grid.columns,
            grid.rows, plan_.pattern->name, plan_.reason, read_ * 1e3, label_ * 1e3, write_ * 1e3);
    }

    std::string as_json(const Labelled& labelled) const {
        const Grid& grid = labelled.labels.grid();
        nlohmann::ordered_json json;
        json["operation"] = "label";
        json["image"] = values_.text("image");
        json["output"] = values_.text("output");
        json["width"] = grid.width;
        json["height"] = grid.height;
        json["element"] = source_->element().name;
        json["neighbours"] = values_.text("neighbours") == "4" ? 4 : 8;
        json["by_value"] = values_.flag("by-value");
        json["components"] = labelled.components;
        json["ranks"] = communicator_.size();
        json["transport"] = transport();
        json["columns"] = grid.columns;
        json["rows"] = grid.rows;
        json["plan"] = nlohmann::ordered_json::parse(to_json(plan_));
        json["seconds"] = {{"read", read_}, {"label", label_}, {"write", write_}};
        json["warnings"] = source_->header().remarks;
        json["host"] = host();
        json["date"] = date();
        return json.dump(2);
    }

    const Values& values_;
    const Communicator communicator_;
    Progress progress_;
    std::unique_ptr<RowSource> source_;
    std::unique_ptr<FrameSink> sink_;
    MergingPlan plan_;
    Seconds read_ = 0, label_ = 0, write_ = 0;
};

int run_label(const Values& values) {
    launch_ranks_or_cores(values, [&](Communicator communicator) {
        LabelRun(values, std::move(communicator)).run();
    });
    return 0;
}

std::vector<Parameter> parameters() {
    return {{.name = "image",
             .type = Type::file,
             .value = "IMAGE",
             .help = "a gray image, or a series with --frame; 0 is the background",
             .positional = true,
             .required = true},
            {.name = "output",
             .type = Type::file,
             .value = "OUT",
             .help = "labels from 1 on, of 32 bits: .tif or .npy",
             .letter = 'o',
             .required = true},
            {.name = "table",
             .type = Type::file,
             .value = "FILE",
             .help = "area, box and centroid of each component, as CSV"},
            {.name = "neighbours",
             .type = Type::choice,
             .value = "N",
             .fallback = "8",
             .help = "which pixels touch",
             .choices = {"4", "8"}},
            {.name = "by-value",
             .type = Type::flag,
             .help = "only pixels of equal value belong together"},
            frame_parameter(),
            ranks_parameter(),
            grid_parameter(),
            pattern_parameter(),
            machine_parameter(),
            json_parameter()};
}

} // namespace

Operation label_operation() {
    return {"label", "connected components of an image, in tiles over ranks",
            "  sextant label cells.tif -o labels.tif --table cells.csv\n"
            "  mpirun -n 4 sextant label classes.png -o labels.npy --by-value --neighbours 4",
            parameters(), run_label};
}

} // namespace sextant::operation

// SPDX-License-Identifier: BSD-3-Clause
// The commands of `sextant` as functions.
#include "sextant/comm/agreement.hpp"
#include "sextant/command/commands.hpp"
#include "sextant/command/operation.hpp"
#include "sextant/command/outputs.hpp"
#include "sextant/command/series/transforms.hpp"
#include "sextant/core/child_process.hpp"
#include "sextant/core/text.hpp"

#include <exception>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "call.hpp"
#include "errors.hpp"
#include "options.hpp"
#include "text.hpp"
#include <pybind11/stl.h>

namespace sextant::python {

namespace py = pybind11;

namespace {

using command::Operation;

/// The commands that the module offers as functions.
const std::map<std::string, Operation (*)(), std::less<>>& operations() {
    static const std::map<std::string, Operation (*)(), std::less<>> all = {
        {"apply", &command::apply_operation},       {"calibrate", &command::calibrate_operation},
        {"explain", &command::explain_operation},   {"info", &command::info_operation},
        {"simulate", &command::simulate_operation}, {"synthesize", &command::synthesize_operation}};
    return all;
}

/// An operation whose options are named as keywords instead of command-line options.
Operation operation_named(const std::string& name) {
    Operation operation = operations().at(name)();
    for (Field& field : operation.options.fields)
        field.on_command_line = false;
    return operation;
}

/// Replaces the option names of a record in a text with keywords.
std::string with_keywords(std::string_view text, const Record& options) {
    return text_with_keywords(
        text, [&](const std::string& word) { return options.find(word) != nullptr; });
}

/// Runs an operation. Errors about options name the keywords.
int run_operation(const Operation& operation, const command::Call& call) {
    try {
        return operation.run(call);
    } catch (const InvalidTask& error) {
        throw InvalidTask(with_keywords(error.what(), call.options));
    } catch (const AgreedFailure& error) {
        throw AgreedFailure(with_keywords(error.what(), call.options), error.fault());
    }
}

/// Runs a command. Returns its exit code, its standard output, and its notes.
py::tuple run(const std::string& name, const py::dict& keywords) {
    const Operation operation = operation_named(name);
    command::Call call{.options = operation.options,
                       .given = set_options(operation.options, keywords)};
    for (const Field& field : call.options.fields) {
        if (field.is_required && !call.has(field.name))
            throw InvalidKeyword(field.name + " is missing: " + field.meaning);
    }
    call.program =
        shell_quoted(utf8_of(py::module_::import("sys").attr("executable"))) + " -m sextant";
    int code = 0;
    std::string text;
    std::vector<std::string> notes;
    // Runs on a separate thread, because few commands can be cancelled between their steps.
    Call(py::none(), py::none(), 1, true).run([&](const Communicator&) {
        command::PrintedText printed;
        code = run_operation(operation, call);
        text = std::move(printed.text);
        for (const std::string& note : printed.notes)
            notes.push_back(with_keywords(note, call.options));
    });
    return py::make_tuple(code, name_text(text), shown_texts(notes));
}

/// Checks the keywords of a command without running it.
void check(const std::string& name, const py::dict& keywords) {
    const Operation operation = operation_named(name);
    set_options(operation.options, keywords);
}

/// The content of a transforms.json file, as far as `apply` needs it; angles are in radians.
py::dict read_transforms(const py::object& path) {
    const command::SeriesTransforms all = command::read_transforms(path_of("path", path));
    py::dict found;
    found["model"] = all.model;
    found["reference"] = all.reference;
    found["shape"] = py::make_tuple(all.shape.height, all.shape.width);
    const registration::PixelArea area = all.area();
    found["area"] = py::make_tuple(area.x, area.y, area.shape.width, area.shape.height);
    found["flyback"] = all.rows ? all.rows->flyback : 0;
    found["row_shift"] = all.row_shift;
    found["fields"] =
        all.fields ? py::object(py::make_tuple(name_text(all.fields->path), all.fields->spacing))
                   : py::none();
    found["rows"] = all.rows ? py::object(name_text(all.rows->path)) : py::none();
    py::list frames;
    for (const FrameRegistration& each : all.frames) {
        const registration::RigidMotion& motion = each.result.motion;
        py::object matrix = py::none();
        if (each.affine)
            matrix = py::make_tuple(each.affine->a, each.affine->b, each.affine->c, each.affine->d);
        frames.append(py::make_tuple(each.frame, shown_text(each.left_out), motion.alpha, motion.tx,
                                     motion.ty, matrix));
    }
    found["frames"] = frames;
    return found;
}

/// Runs the command line of `sextant`. `program`: the words that start this program.
int run_main(const std::vector<std::string>& program, const py::list& words) {
    command::Commands commands = command::catalogue();
    commands.program.clear();
    for (const std::string& word : program)
        commands.program.append(commands.program.empty() ? "" : " ").append(shell_quoted(word));
    std::vector<char*> arguments;
    std::vector<std::string> copies;
    for (const py::handle word : words)
        copies.push_back(utf8_of(word));
    for (std::string& word : copies)
        arguments.push_back(word.data());
    const auto count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    const py::gil_scoped_release released;
    return command::main_of(commands, count, arguments.data());
}

} // namespace

void bind_command(py::module_& module) {
    module.def("run_command", &run);
    module.def("check_command", &check);
    module.def("with_keywords", [](const std::string& name, const py::str& text) {
        return name_text(with_keywords(utf8_of(text), operation_named(name).options));
    });
    module.def("read_transforms", &read_transforms);
    module.def("main", &run_main);
    module.def("declared_commands", [] {
        py::dict all;
        for (const auto& [name, make] : operations())
            all[py::str(name)] = described(operation_named(name).options);
        return all;
    });
}

} // namespace sextant::python

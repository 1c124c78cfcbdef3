// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/prefix/scan.hpp"

#include "sextant/prefix/scan_forms.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "call.hpp"
#include "errors.hpp"
#include "options.hpp"
#include <fmt/format.h>
#include <pybind11/stl.h>

namespace sextant::python {

namespace py = pybind11;

namespace {

/// The objects of a scan, numbered. Slots hold these numbers, because the library copies slots byte
/// by byte. All member functions require the GIL.
class Objects {
  public:
    std::int64_t add(py::object object) {
        all_.push_back(std::move(object));
        return std::ssize(all_) - 1;
    }
    py::object& operator[](std::int64_t number) { return all_[static_cast<std::size_t>(number)]; }

  private:
    std::vector<py::object> all_;
};

/// A value of a scan: the number of an object of this process, or -1 for no object.
using Number = std::int64_t;

/// Slots for pickled objects of at most `capacity` bytes, for ranks that are processes.
prefix::Slots<Number> pickled_slots(Call& call, Objects& objects, Bytes capacity) {
    return prefix::sized_slots<Number>(
        capacity,
        [&call, &objects](Number number) {
            std::vector<std::byte> bytes;
            call.python([&] {
                const py::bytes pickled =
                    py::module_::import("pickle").attr("dumps")(objects[number], 5);
                const std::string_view view = pickled;
                bytes.resize(view.size());
                std::memcpy(bytes.data(), view.data(), view.size());
            });
            return bytes;
        },
        [&call, &objects](std::span<const std::byte> bytes) {
            return call.python([&] {
                const py::bytes pickled(reinterpret_cast<const char*>(bytes.data()), bytes.size());
                return objects.add(py::module_::import("pickle").attr("loads")(pickled));
            });
        });
}

py::list scan(const py::list& values, const py::function& op, const py::dict& keywords,
              bool exclusive, Bytes capacity, py::object comm, py::object progress) {
    prefix::ScanOptions options;
    const auto given = set_options(record_of(options), keywords);
    if (options.threads > 1 && !given.contains("strategy")) {
        options.strategy = "reduce-then-scan";
        // The threads of one process have all values, so idle threads can reduce values ahead.
        if (!given.contains("boundaries"))
            options.boundaries = scan::Boundaries::look_ahead;
    }
    const bool has_comm = !comm.is_none();
    Call call(std::move(progress), comm, 1, options.threads > 1);
    Objects objects;
    std::vector<Number> numbers;
    for (const py::handle value : values)
        numbers.push_back(objects.add(py::reinterpret_borrow<py::object>(value)));
    const RunControl control = call.control();
    // Several ranks or threads apply the operator about twice to each value.
    const std::int64_t most = (has_comm || options.threads > 1 ? 2 : 1) * std::ssize(numbers) - 1;
    std::atomic<std::int64_t> done{0};
    bool reports = true;
    const auto combine = [&](Number left, Number right) {
        control.check();
        if (reports)
            control.report("combine", std::min(done++, most), most);
        return call.python([&] {
            // Own references keep the objects alive, because another thread may add objects
            // meanwhile.
            const py::object first = objects[left], second = objects[right];
            return objects.add(op(first, second));
        });
    };
    std::vector<std::optional<Number>> found;
    call.run([&](const Communicator& communicator) {
        reports = communicator.rank() == 0;
        const prefix::Slots<Number> slots =
            has_comm ? pickled_slots(call, objects, capacity) : prefix::plain_slots<Number>();
        const std::span<const Number> own(numbers);
        if (exclusive) {
            found = prefix::exclusive_scan(communicator, own, combine, slots, options);
        } else {
            for (const Number number : prefix::scan(communicator, own, combine, slots, options))
                found.push_back(number);
        }
    });
    py::list results;
    for (const std::optional<Number>& number : found)
        results.append(number ? objects[*number] : py::none());
    return results;
}

} // namespace

void bind_scan(py::module_& module) {
    module.def("scan", &scan);
}

} // namespace sextant::python

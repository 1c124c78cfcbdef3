// SPDX-License-Identifier: BSD-3-Clause
#include "errors.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/core/text.hpp"

#include <exception>
#include <string_view>

#include "text.hpp"

namespace sextant::python {

namespace py = pybind11;

namespace {

void raise(const char* type, const std::exception& error) {
    const py::object found = py::module_::import("sextant.errors").attr(type);
    PyErr_SetObject(found.ptr(), shown_text(bounded_message(error.what())).ptr());
}

void translate(std::exception_ptr thrown) {
    try {
        if (thrown)
            std::rethrow_exception(thrown);
    } catch (const Cancelled&) {
        PyErr_SetString(PyExc_KeyboardInterrupt, "another rank was interrupted");
    } catch (const InvalidKeyword& error) {
        raise("InvalidKeyword", error);
    } catch (const WrongType& error) {
        raise("WrongType", error);
    } catch (const InvalidTask& error) {
        raise("InvalidTask", error);
    } catch (const InvalidFile& error) {
        const std::string_view text = error.what(); // the path, ": " and the reason
        const py::object found =
            py::module_::import("sextant.errors")
                .attr("invalid_file")(
                    name_text(error.path()),
                    shown_text(bounded_message(text.substr(error.path().size() + 2))));
        PyErr_SetObject(py::type::of(found).ptr(), found.ptr());
    } catch (const AgreedFailure& error) {
        using Fault = AgreedFailure::Fault;
        raise(error.invalid_task()           ? "InvalidTask"
              : error.fault() == Fault::file ? "InvalidFile"
                                             : "RunFailed",
              error);
    } catch (const PeerFailed& error) {
        raise("PeerFailed", error);
    } catch (const CommunicationFailed& error) {
        raise("CommunicationFailed", error);
    } catch (const Error& error) {
        raise("Error", error);
    }
}

} // namespace

void translate_exceptions() {
    py::register_local_exception_translator(&translate);
}

} // namespace sextant::python

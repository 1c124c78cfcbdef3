# SPDX-License-Identifier: BSD-3-Clause
# The version of the project is the same in all files of SOURCE that state it; VERSION is that of CMakeLists.txt.
set(in_CITATION.cff "\nversion: VERSION\n")
set(in_pyproject.toml "\nversion = \"VERSION\"\n")
set(in_debian/changelog "^sextant [(]VERSION-[0-9]+(~[a-z0-9]+)?[)]")
set(in_debian/control "\nPackage: libsextantMINOR\n") # the soname
set(in_CHANGELOG.md "^# Changelog\n\n(## Unreleased\n.*\n)?## VERSION\n")
string(REPLACE "." "[.]" pattern "${VERSION}")
string(REGEX REPLACE "[[][.][]][0-9]+$" "" minor "${pattern}")
foreach(file IN ITEMS CITATION.cff pyproject.toml debian/changelog debian/control CHANGELOG.md)
    file(READ "${SOURCE}/${file}" text)
    string(REPLACE VERSION "${pattern}" expected "${in_${file}}")
    string(REPLACE MINOR "${minor}" expected "${expected}")
    if(NOT text MATCHES "${expected}")
        message(SEND_ERROR "${file} does not state the version ${VERSION} of CMakeLists.txt")
    endif()
endforeach()

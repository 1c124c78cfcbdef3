# SPDX-License-Identifier: BSD-3-Clause
# Embeds a layer's asset files in its library at build time: assets/page.css becomes the string
# `assets::page_css`, which the layer's assets.hpp declares.
function(sextant_assets layer)
    set(folder "${PROJECT_SOURCE_DIR}/src/sextant/${layer}")
    file(GLOB files CONFIGURE_DEPENDS "${folder}/assets/*")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
    set(definitions "")
    foreach(path IN LISTS files)
        get_filename_component(file "${path}" NAME)
        string(REPLACE "." "_" name "${file}")
        file(READ "${path}" text)
        string(APPEND definitions "const std::string_view ${name} = R\"asset(${text})asset\";\n")
    endforeach()
    set(source "${PROJECT_BINARY_DIR}/assets/${layer}.cpp")
    file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT "// The files of ${layer}/assets, made by cmake/SextantAssets.cmake.
#include \"sextant/${layer}/assets.hpp\"

namespace sextant::${layer}::assets {

@definitions@
} // namespace sextant::${layer}::assets
")
    target_sources(sextant_${layer} PRIVATE "${source}")
endfunction()

# Installs the JSON schemas, which are made from the tables in docs, in a folder relative to the prefix; other arguments
# are those of install(). Without Python, they are not installed.
function(sextant_install_schemas folder)
    install(CODE "
        execute_process(RESULT_VARIABLE failed COMMAND python3 -B \"${PROJECT_SOURCE_DIR}/scripts/schemas.py\"
            write \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}\")
        if(failed)
            message(WARNING \"The JSON schemas are not installed: python3 \${failed}\")
        endif()" ${ARGN})
endfunction()

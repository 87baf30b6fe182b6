# Debian packages, by `cmake --workflow --preset debian`: libidxN and libidxtextN (N: the libraries' version),
# libidx-dev, idx and python3-libidx. Each has its changelog and licence, which no other installation has
# (EXCLUDE_FROM_ALL).
set(folder ${CMAKE_CURRENT_BINARY_DIR}/packages)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The idx authors <idx@packages.invalid>" CACHE STRING "Who maintains the Debian packages")
set(CPACK_PACKAGE_VENDOR "the idx authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # it would stand before each package's own
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL library dev command)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/libidx ${PROJECT_BINARY_DIR}/libidx/text)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/libidx/package-files.cmake)

set(version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
set(library libidx${PROJECT_VERSION_MAJOR})
set(text_library libidxtext${PROJECT_VERSION_MAJOR})
set(about "idx finds near-duplicate documents. It is an exact, compressed, on-disk index
of 64-bit SimHash fingerprints: it answers which of them differ from a given
one in at most k bits, and which documents have them.")

file(WRITE ${folder}/triggers "activate-noawait ldconfig\n")
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
string(TIMESTAMP year %Y UTC)
file(READ LICENSE license)
string(REGEX REPLACE "^.*idx authors\n\n" "" license "${license}")
string(STRIP "${license}" license)
string(REPLACE "\n\n" "\n.\n" license "${license}")
string(REPLACE "\n" "\n " license "${license}")
file(WRITE ${folder}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: idx

Files: *
Copyright: ${year}, the idx authors
License: Expat
 ${license}
")
file(WRITE ${folder}/changelog.Debian "idx (${version}) unstable; urgency=medium

  * Packages of release ${PROJECT_VERSION}.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")

# idx_package(COMPONENT NAME SECTION SYNOPSIS DETAILS [DEPENDENCY…])
function(idx_package component name section synopsis details)
    install(FILES CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${name} RENAME changelog
            COMPONENT ${component} EXCLUDE_FROM_ALL)
    install(FILES ${folder}/copyright ${folder}/changelog.Debian DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${name}
            COMPONENT ${component} EXCLUDE_FROM_ALL)
    string(TOUPPER ${component} key)
    list(JOIN ARGN ", " dependencies)
    set(CPACK_DEBIAN_${key}_PACKAGE_NAME ${name} PARENT_SCOPE)
    set(CPACK_DEBIAN_${key}_PACKAGE_SECTION ${section} PARENT_SCOPE)
    set(CPACK_DEBIAN_${key}_PACKAGE_DEPENDS "${dependencies}" PARENT_SCOPE)
    set(CPACK_DEBIAN_${key}_DESCRIPTION "${synopsis}\n${about}\n\n${details}" PARENT_SCOPE)
    if(section STREQUAL libs)
        set(CPACK_DEBIAN_${key}_PACKAGE_CONTROL_EXTRA ${folder}/triggers PARENT_SCOPE)
    endif()
endfunction()
idx_package(library ${library} libs "index of document fingerprints: library" "This package has the library.")
set(same_text "")
if(IDX_TEXT)
    list(APPEND CPACK_COMPONENTS_ALL text)
    idx_package(text ${text_library} libs "fingerprints of texts: library"
                "This package has the library that makes fingerprints of texts." "${library} (= ${version})")
    set(same_text "${text_library} (= ${version})" libicu-dev)
endif()
idx_package(dev libidx-dev libdevel "index of document fingerprints: development files"
            "This package has the headers, static libraries and manual pages." "${library} (= ${version})" ${same_text}
            liblmdb-dev libxxhash-dev)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS mandoc) # to read manual pages
idx_package(command idx utils "index of document fingerprints: command" "This package has the command.")
if(IDX_PYTHON)
    list(APPEND CPACK_COMPONENTS_ALL python)
    idx_package(python python3-libidx python "index of document fingerprints: Python 3 package"
                "This package has the Python package libidx." "python3 (>= 3.11)" python3-numpy
                "${library} (= ${version})" "${text_library} (= ${version})")
    set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS python3-tqdm) # to show progress
    # What pip and importlib.metadata know of the package, as pyproject.toml says it.
    file(STRINGS pyproject.toml project)
    string(REGEX MATCH "requires-python = \"([^\"]*)\"" matched "${project}")
    set(requires_python ${CMAKE_MATCH_1})
    string(REGEX MATCH "dependencies = \\[\"([^\"]*)\"\\]" matched "${project}")
    set(requires ${CMAKE_MATCH_1})
    file(READ README.md readme)
    file(WRITE ${folder}/METADATA "Metadata-Version: 2.1
Name: libidx
Version: ${PROJECT_VERSION}
Summary: ${PROJECT_DESCRIPTION}
License: MIT
Requires-Python: ${requires_python}
Requires-Dist: ${requires}
Description-Content-Type: text/markdown

${readme}")
    install(FILES ${folder}/METADATA COMPONENT python EXCLUDE_FROM_ALL
            DESTINATION lib/python3/dist-packages/libidx-${PROJECT_VERSION}.dist-info)
    # Python's byte code is made when the package is installed, and removed with it.
    file(WRITE ${folder}/postinst "#!/bin/sh
set -e
if command -v py3compile >/dev/null; then py3compile -p python3-libidx; fi
")
    file(WRITE ${folder}/prerm "#!/bin/sh
set -e
if command -v py3clean >/dev/null; then py3clean -p python3-libidx; fi
")
    set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${folder}/postinst ${folder}/prerm)
endif()
include(CPack)

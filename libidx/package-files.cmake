# Run by cpack before it makes packages: manual pages and changelogs are compressed, as Debian has them.
file(GLOB_RECURSE files ${CPACK_TEMPORARY_DIRECTORY}/*)
foreach(file IN LISTS files)
    if(file MATCHES "/share/(man|doc/[^/]+/changelog)" AND NOT file MATCHES "\\.gz$")
        execute_process(COMMAND gzip -9n ${file} COMMAND_ERROR_IS_FATAL ANY)
    endif()
endforeach()

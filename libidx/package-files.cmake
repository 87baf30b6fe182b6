# Run by cpack before it makes packages: manual pages and changelogs are compressed, as Debian has them, and systemd's
# unit, which names the command where cpack installed it, names it where the package will. With SOURCE_DATE_EPOCH, all
# files and folders have that time, so that packages which are made twice have the same bytes.
file(GLOB_RECURSE files ${CPACK_TEMPORARY_DIRECTORY}/*)
foreach(file IN LISTS files)
    if(file MATCHES "/share/(man|doc/[^/]+/changelog)" AND NOT file MATCHES "\\.gz$")
        execute_process(COMMAND gzip -9n ${file} COMMAND_ERROR_IS_FATAL ANY)
    elseif(file MATCHES "^(.*)/usr/lib/systemd/system/.*\\.service$")
        set(root ${CMAKE_MATCH_1})
        file(READ ${file} unit)
        string(REPLACE "=${root}/" "=/" unit "${unit}")
        file(WRITE ${file} "${unit}")
    endif()
endforeach()
if(DEFINED ENV{SOURCE_DATE_EPOCH})
    set(time @$ENV{SOURCE_DATE_EPOCH})
    execute_process(COMMAND find ${CPACK_TEMPORARY_DIRECTORY} -exec touch --no-dereference --date ${time} {} +
                    COMMAND_ERROR_IS_FATAL ANY)
endif()

# cmake -DBINARY=debubble -DFOLDER=build/share -P write_pages.cmake: FOLDER/man/man1 and FOLDER/completions.
#
# Pages are compressed where there is a gzip, as Debian wants them; man reads both.
cmake_minimum_required(VERSION 3.25)

function(debubble_list result)
  execute_process(COMMAND "${BINARY}" list ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${FOLDER}/man" "${FOLDER}/completions")
file(MAKE_DIRECTORY "${FOLDER}/man/man1" "${FOLDER}/completions")
find_program(gzip gzip)
debubble_list(pages man-pages --format json)
string(JSON count LENGTH "${pages}" man_pages)
math(EXPR last "${count} - 1")
foreach(index RANGE ${last})
  string(JSON name GET "${pages}" man_pages ${index} name)
  set(file "${FOLDER}/man/man1/${name}.1")
  debubble_list(ignored man-pages ${name} -o "${file}")
  if(gzip)
    execute_process(COMMAND "${gzip}" -9nf "${file}" COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
debubble_list(ignored completions bash -o "${FOLDER}/completions/debubble")
debubble_list(ignored completions fish -o "${FOLDER}/completions/debubble.fish")
debubble_list(ignored completions zsh -o "${FOLDER}/completions/_debubble")
file(TOUCH "${FOLDER}/man/written")

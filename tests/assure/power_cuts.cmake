# SPDX-License-Identifier: Apache-2.0
# Power cuts: the short form in every suite, the long one with the preset `assure`; and whether it sees a program that lies, and
# believes one that does not.
set(power_cuts "${CMAKE_CURRENT_LIST_DIR}/power_cuts")
add_test(NAME assure.power_cuts_sees_a_liar COMMAND "${power_cuts}" "${CMAKE_CURRENT_LIST_DIR}/liar" --product key-pair --cuts 40)
add_test(NAME assure.power_cuts_believes_the_honest
         COMMAND "${power_cuts}" "${CMAKE_CURRENT_LIST_DIR}/honest" --product key-pair --cuts 100)
# Not asked here: names that stay behind; keygen, whose key is not whole at once; directories that gridftp makes, which are not synced.
add_test(NAME assure.power_cuts_in_short
         COMMAND "${power_cuts}" "$<TARGET_FILE:udtcat>" --cuts 200 --jobs 2 --without left
                 --product tree,tree-again,tree-served,put,put-again,get,get-again,peers)
add_test(NAME assure.power_cuts COMMAND "${power_cuts}" "$<TARGET_FILE:udtcat>" --cuts 10000 --jobs 2
                                        --resume "${CMAKE_CURRENT_BINARY_DIR}/power_cuts.jsonl")
set(short_power_cuts assure.power_cuts_sees_a_liar assure.power_cuts_believes_the_honest assure.power_cuts_in_short)
set_tests_properties(${short_power_cuts} PROPERTIES LABELS e2e TIMEOUT ${UDTCAT_E2E_TIMEOUT_S} COST ${UDTCAT_FIRST_COST})
set_tests_properties(assure.power_cuts PROPERTIES LABELS assure TIMEOUT ${UDTCAT_SOAK_TIMEOUT_S} RUN_SERIAL ON)
set_tests_properties(assure.power_cuts_sees_a_liar PROPERTIES PASS_REGULAR_EXPRESSION "lost: near/[*]: keygen told of success")
set_tests_properties(${short_power_cuts} assure.power_cuts PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT "${UDTCAT_TEST_ENVIRONMENT}")
if(NOT UDTCAT_GRIDFTP)
  set_tests_properties(assure.power_cuts_in_short assure.power_cuts PROPERTIES DISABLED ON)  # they run every product
endif()

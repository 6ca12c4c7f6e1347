"""Which test holds which rule of the wires: the table, and that no test in it has gone."""

# ruff: noqa: E501 - a table of names that are sentences

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOM = Path(__file__).parent

CHAT = {
    "nothing that OpenAI does not know is sent to it": "openai_wire:fields_that_a_service_does_not_know_are_not_sent",
    "developer only for reasoning models of OpenAI": "openai_wire:reasoning_models_get_completion_tokens_and_a_developer",
    "system everywhere else": "openai_wire:elsewhere_the_system_prompt_is_system_whatever_the_model",
    "a reply's text is a string": "openai_wire:a_replys_text_is_a_plain_string_never_parts",
    "content null only beside calls": "openai_wire:a_reply_that_only_calls_has_null_content",
    "ids of at most 40 characters": "openai_wire:ids_are_cut_to_forty_and_stay_paired",
    "arguments are JSON in a string": "openai_wire:arguments_are_valid_json_whatever_they_hold",
    "arguments in the history parse": "openai_wire:arguments_that_did_not_parse_go_back_as_an_empty_object",
    "names by pattern": "openai_wire:invented_names_in_the_history_fit_the_pattern",
    "images after the last result": "openai_wire:images_of_results_come_in_a_user_message_after_the_last_of_them",
    "never an empty list of tools": "openai_wire:without_tools_there_is_no_tools_field",
    "but for old proxies": "openai_wire:old_proxies_get_an_empty_list_where_the_history_holds_calls",
    "an object at the root, items in arrays": "openai_wire:schemas_have_an_object_at_the_root_and_items_in_arrays",
    "max_completion_tokens for new models only": "models:new_openai_models_take_completion_tokens",
    "a cache key of at most 64 characters": "openai_wire:a_long_session_id_becomes_a_cache_key_that_fits",
    "calls by index, in pieces": "chat_calls:id_and_name_come_once_and_arguments_in_pieces",
    "several calls at one index": "chat_calls:parallel_calls_at_one_index_with_different_ids_are_several",
    "ids that are missing": "chat_calls:missing_and_empty_ids_are_made_up_and_differ",
    "calls without name and id": "chat_calls:a_ghost_without_name_and_arguments_is_dropped",
    "whole by a finish_reason alone": "openai_chat:a_stream_without_finish_reason_is_no_reply_even_with_done",
    "DONE is not needed": "openai_chat:done_is_not_needed_after_a_finish_reason",
    "a refusal is filtered content": "openai_chat:a_refusal_is_content_filter_with_its_words",
    "an error as a data line": "openai_chat:errors_in_a_stream_are_found_in_every_shape",
    "DeepSeek gets reasoning_content back": "openai_chat:deepseek_gets_its_thinking_back_or_refuses",
    "OpenRouter's details": "openai_chat:openrouters_details_are_merged_kept_and_sent_back",
    "OpenRouter's bill": "openai_chat:openrouters_bill_wins_over_any_price_list",
    "Mistral's ids": "openai_wire:mistrals_ids_are_nine_letters_and_digits",
    "usage wherever it stands": "openai_chat:usage_is_found_wherever_it_stands_and_never_added_up",
    "reasoning under two names counts once": "openai_chat:thinking_is_kept_apart_and_once",
    "differences are data": "catalog:habits_are_data_and_nobody_asks_for_a_name_or_an_address",
    "an untidy history is taken": "openai_wire:every_service_takes_an_untidy_history",
}
RESPONSES = {
    "nothing stored, all items each time": "responses_wire:a_request_stores_nothing_and_carries_instructions_tools_and_items",
    "encrypted reasoning is asked for": "responses_wire:encrypted_reasoning_is_asked_for_unless_the_model_is_known_not_to_reason",
    "at least 16 tokens": "responses_wire:the_cap_is_at_least_sixteen_and_at_most_the_models",
    "names that moved, no sampling": "responses_wire:no_sampling_field_and_no_name_of_the_other_wire_is_ever_sent",
    "flat tools": "responses_wire:a_request_stores_nothing_and_carries_instructions_tools_and_items",
    "summary is required": "responses_wire:a_thought_without_summary_gets_an_empty_one",
    "reasoning stays with its item": "responses_wire:reasoning_goes_back_right_before_the_item_that_it_led_to",
    "no reasoning without its item": "responses_wire:reasoning_without_the_item_that_it_led_to_stays_away",
    "no item without its content": "responses_wire:what_the_service_could_not_find_again_is_left_out",
    "no item twice": "responses_wire:no_item_is_sent_twice_though_a_service_used_its_id_again",
    "ids are left out, not invented": "responses_wire:the_phase_of_a_message_goes_back_with_it_and_its_id_does_not",
    "call_id of at most 64 characters": "responses_wire:ids_of_other_services_are_shaped_and_stay_paired_and_unique",
    "phases go back": "responses_wire:the_phase_of_a_message_goes_back_with_it_and_its_id_does_not",
    "outputs as strings or parts": "responses_wire:images_are_parts_of_messages_and_of_results",
    "no blank text": "responses_wire:no_text_is_ever_blank",
    "whole by a terminal event alone": "openai_responses:what_is_no_good_end_is_an_error_of_its_kind",
    "incomplete has a reason": "openai_responses:an_incomplete_reply_has_the_reason_for_its_end",
    "calls count at the end": "openai_responses:a_call_that_is_unfinished_in_a_finished_reply_is_an_error",
    "items out of order": "openai_responses:calls_survive_the_habits_of_imitators",
    "only done items carry encrypted content": "openai_responses:the_encrypted_content_of_an_item_that_was_never_finished_does_not_count",
    "encrypted content with the end": "openai_responses:encrypted_content_that_comes_only_with_the_end_is_kept",
    "a refusal is filtered content": "openai_responses:a_refusal_is_filtered_content",
    "usage": "openai_responses:usage_is_four_disjoint_numbers_and_the_reasoning_in_the_output",
    "an untidy history is taken": "responses_wire:the_service_takes_an_untidy_history",
}
MESSAGES = {
    "max_tokens always, at most the model's": "anthropic_wire:the_cap_is_always_there_and_never_more_than_the_model_gives",
    "both versions of the API": "anthropic_wire:the_service_takes_an_untidy_history",
    "one of the two keys": "catalog:anthropic_takes_a_key_or_a_token_and_the_key_wins",
    "no blank text": "anthropic_wire:no_text_is_ever_blank",
    "results first": "anthropic_wire:results_come_first_in_the_next_user_message_then_what_the_user_says",
    "images of errors after the results": "anthropic_wire:a_good_result_keeps_its_image_and_an_errors_image_comes_after_the_results",
    "unique ids by pattern": "anthropic_wire:a_recordings_repeated_ids_become_unique_and_stay_paired",
    "thinking as it came, at the head": "anthropic_wire:thinking_goes_back_as_it_came_and_at_the_head",
    "thinking of others stays away": "anthropic_wire:thinking_of_another_model_is_left_out_whole",
    "adaptive or by budget, by family": "anthropic_wire:a_level_is_asked_for_in_the_familys_own_way",
    "a budget within max_tokens": "anthropic_wire:without_room_for_a_budget_there_is_no_thinking",
    "at most four marks": "anthropic_wire:marks_are_on_the_system_prompt_and_the_two_newest_user_messages",
    "schemas": "anthropic_wire:schemas_have_an_object_at_the_root_and_no_alternatives_there",
    "stop reasons": "anthropic:stop_reasons_become_one_set",
    "unknown ones are errors": "anthropic:other_stop_reasons_are_errors_with_their_name",
    "usage is cumulative": "anthropic:usage_is_the_starts_with_what_the_end_replaces",
    "proxies without usage at the end": "anthropic:a_proxy_that_leaves_usage_out_of_the_end_leaves_that_of_the_start",
    "pings do not count": "anthropic:pings_do_not_keep_a_stalled_stream_alive",
    "errors at any time": "anthropic:an_error_event_counts_whenever_it_comes",
}
GEMINI = {
    "alt=sse, the key in a header": "google:text_comes_in_deltas_and_whole_at_the_end_with_its_signature_apart",
    "a wrong key and a missing one": "google:a_wrong_key_and_a_missing_one_are_told_with_the_variable",
    "no empty part": "google_wire:no_part_and_no_turn_is_ever_empty",
    "one turn with all responses": "google_wire:the_results_of_a_reply_are_one_turn_in_the_order_of_its_calls",
    "no ids before Gemini 3": "google_wire:older_models_get_calls_and_results_without_ids",
    "images in a response": "google_wire:images_of_results_stand_in_the_response_or_in_a_turn_of_their_own_for_older_models",
    "signatures on their parts": "google_wire:each_signature_goes_back_on_its_own_part_also_on_an_empty_text",
    "a signed part is not merged": "google:a_signed_part_is_a_block_of_its_own",
    "the first call of a step is signed": "google_wire:signatures_of_another_model_are_left_out_and_its_first_call_says_so",
    "no thoughts without need": "google_wire:thoughts_stay_away_unless_they_are_signed",
    "the subset of schemas": "google_schema:words_that_gemini_does_not_know_are_left_out",
    "const as enum": "google_schema:json_schema_has_no_const_there_and_keeps_a_property_of_that_name",
    "names": "google_wire:names_begin_with_a_letter_and_have_less_than_64_characters_and_stay_apart",
    "budget or level": "google_thinking:budget_and_level_are_never_sent_together_and_pro_never_gets_none",
    "the last usage counts": "google:usage_is_four_disjoint_numbers_and_the_last_one_counts",
    "no finishReason is no end": "google:faults_are_read_as_google_words_them",
    "other finish reasons": "google:any_other_finish_reason_is_an_error_with_its_name",
    "a blocked prompt": "google:a_blocked_prompt_is_filtered_content_that_says_so",
    "RetryInfo and PerDay": "google:faults_are_read_as_google_words_them",
    "an untidy history is taken": "google_wire:the_service_takes_an_untidy_history",
}
SHARED = {
    "a fault has one kind": "service_conformance:a_fault_has_the_same_kind_on_every_wire",
    "time counts by events": "http:a_stream_that_stalls_ends_in_time_whatever_keeps_it_alive",
    "waits by the server's word": "retry_after:milliseconds_win_over_seconds",
    "never what cannot change": "faults:the_service_may_ask_for_another_try_but_not_of_what_cannot_change",
    "spent quota": "faults:a_spent_quota_stays_one_whatever_the_wait",
    "overflow, as each says it": "overflow:each_service_is_understood",
    "characters cut by chunks": "sse:a_character_cut_by_a_chunk_stays_whole",
    "no half call is carried out": "wire_json:anything_else_is_none_and_not_repaired",
    "valid UTF-8, no NaN": "wire_json:whatever_goes_out_is_valid_utf8_json",
    "no key in a message": "faults:the_key_is_in_no_message",
    "addresses join once": "endpoint:chat_completions_are_posted_where_they_are_served",
    "an empty variable is unset": "catalog:a_missing_or_empty_key_names_the_variable",
    "who answered and who was asked": "same_model:a_reply_is_ones_own_by_provider_wire_and_model",
    "a conversation crosses": "crossing:a_conversation_goes_on_at_another_service_and_comes_back",
}  # fmt: skip
TABLE = {
    f"{wire}: {rule}": test
    for wire, rules in (
        ("Chat", CHAT),
        ("Responses", RESPONSES),
        ("Messages", MESSAGES),
        ("Gemini", GEMINI),
        ("all", SHARED),
    )
    for rule, test in rules.items()
}


@pytest.fixture(scope="module")
def known() -> set[str]:
    """Every test of this room as module:name."""
    pattern = re.compile(r"^(?:async )?def test_(\w+)", re.MULTILINE)
    return {
        f"{path.stem.removeprefix('test_')}:{name}"
        for path in ROOM.glob("test_*.py")
        for name in pattern.findall(path.read_text(encoding="utf-8"))
    }


def test_every_rule_has_its_test(known: set[str]) -> None:
    assert {rule: test for rule, test in TABLE.items() if test not in known} == {}

"""What people do in passing on the page: nothing is lost, and the page says why."""

import json
import re
import time
import urllib.request

import pytest

pytestmark = pytest.mark.slow
VERDICTS = "JSON.parse(sessionStorage['manylabel.draft']).verdicts"


def suggest(page, text):
    """Type a text and wait for its labels."""
    page.fill("#text", text)
    page.click("#suggest")
    page.wait_for_function(
        "text => JSON.parse(sessionStorage['manylabel.draft']).asked === text", arg=text
    )
    page.wait_for_selector("#rows .row")


def submit(page):
    """Submit, and return what was sent."""
    with page.expect_request("**/feedback") as sent:
        page.click("#submit")
    page.wait_for_selector("#outcome:not([hidden])")
    return sent.value.post_data_json


def test_a_label_that_is_typed_and_not_chosen_is_submitted(visit, server):
    page = visit(server.url, model="batch")
    suggest(page, "an apple pie")
    page.locator("#rows .row[data-label=food] .accepted").click()
    page.fill("#add", "drink ")
    assert submit(page)["accepted"] == ["food", "drink"]
    assert page.input_value("#add") == ""


def test_a_new_label_that_is_typed_and_not_chosen_is_asked_about(visit, server):
    page = visit(server.url, model="batch")
    suggest(page, "an apple pie")
    page.fill("#add", " dri  \t fruit")
    page.click("#submit")
    page.wait_for_selector("#confirm-dialog[open]")
    assert page.inner_text("#confirm-title") == "Add “dri fruit”?"
    assert "new label" in page.inner_text("#confirm-text")
    page.click("#confirm-no")
    page.wait_for_selector("#add:focus")
    page.fill("#add", "dri")
    page.get_by_role(
        "option", name="drink"
    ).wait_for()  # the list leaves the button free
    page.click("#submit")
    page.wait_for_selector("#confirm-dialog[open]")
    assert page.inner_text("#confirm-text").endswith("There is “drink”.")
    with page.expect_request("**/feedback") as sent:
        page.click("#confirm-yes")
    assert sent.value.post_data_json["accepted"] == ["dri"]
    page.wait_for_selector("#outcome:not([hidden])")
    page.fill("#add", "drink")  # after the text was learnt, too
    assert page.inner_text("#submit") == "Submit"
    page.press("#add", "Escape")
    assert page.inner_text("#submit") == "Next text"
    page.fill("#add", "drink")
    assert submit(page)["accepted"] == ["dri", "drink"]


@pytest.mark.parametrize(
    ("typed", "label"), [("foo", "food"), ("drink", "drink"), ("fruit", "fruit")]
)
def test_enter_is_not_lost_before_the_labels_are_there(visit, shared, typed, label):
    page = visit(shared.url, model="batch")
    suggest(page, "an apple pie")
    page.type("#add", "d")
    page.get_by_role("option", name="drink").wait_for()
    page.route("**/labels?**", lambda route: (time.sleep(0.3), route.continue_()))
    page.fill("#add", typed)
    page.press("#add", "Enter")
    page.wait_for_function(f"() => {VERDICTS}.length")
    assert page.evaluate(VERDICTS) == [[label, "accepted"]]
    assert page.input_value("#add") == ""


def test_enter_that_is_followed_by_letters_takes_nothing(visit, shared):
    page, held = visit(shared.url, model="batch"), []
    suggest(page, "an apple pie")
    page.route("**/labels?**", lambda route: held.append(route))
    with page.expect_request("**/labels?prefix=foo&**"):
        page.fill("#add", "foo")
        page.press("#add", "Enter")
    with page.expect_request("**/labels?prefix=foot&**"):
        page.fill("#add", "foot")
    for route in held:
        route.continue_()
    page.get_by_role("option", name="foot").wait_for()
    assert page.evaluate(VERDICTS) == []


def test_the_box_of_labels_is_emptied_for_another_text(visit, shared):
    page = visit(shared.url, model="batch")
    suggest(page, "an apple pie")
    page.fill("#add", "dri")
    suggest(page, "a pear pie")
    assert page.input_value("#add") == ""


def test_runs_of_blanks_in_a_label_are_one(visit, shared):
    page = visit(shared.url, model="batch")
    suggest(page, "an apple pie")
    page.fill("#add", "Möwen  und \u00a0 Vögel ")
    page.get_by_role("option", name="Möwen und Vögel").click()
    page.locator('#rows .row[data-label="Möwen und Vögel"]').wait_for()


def teach(server, numbers):
    """Correct a text for each number, as another program would."""
    given = [{"item": {"text": f"pie {n}"}, "accepted": ["food"]} for n in numbers]
    request = urllib.request.Request(
        f"{server.url}v1/models/batch/feedback?wait=applied",
        json.dumps(given).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["sequences"]


def test_corrections_of_others_are_taken_back_one_by_one(visit, server):
    numbers = teach(server, range(25))
    page = visit(server.url + "#versions", model="batch")
    page.locator("#history li").nth(19).wait_for()
    assert page.locator("#history li").count() == 20
    assert page.locator("#history li").first.inner_text().startswith(f"{numbers[-1]}")
    page.click("#history-older")
    page.locator("#history li").nth(24).wait_for()
    assert page.locator("#history-older").is_hidden()
    page.get_by_role("button", name=f"Take back event {numbers[0]}", exact=True).click()
    words = f"Event {numbers[0]} is taken back."
    page.wait_for_function(
        "words => document.querySelector('#history-said').textContent === words",
        arg=words,
    )
    assert page.text_content("#spoken") == words
    last = page.locator("#history li").last
    assert last.get_attribute("data-state") == "left out"
    assert last.locator("button").count() == 0
    assert page.locator("#history li").count() == 25


def test_corrections_are_those_of_the_model_that_is_chosen(visit, server):
    teach(server, range(2))
    page = visit(server.url + "#versions", model="batch")
    page.locator("#history li").nth(1).wait_for()
    page.select_option("#model", "online")
    page.wait_for_selector("#history-empty", state="visible")
    assert page.locator("#history li").count() == 0


def test_an_empty_text_and_nothing_chosen_are_told(visit, shared):
    page = visit(shared.url, model="batch")
    page.click("#suggest")
    assert page.inner_text("#text-hint").startswith("There is no text")
    suggest(page, "red wine")
    assert page.locator("#text-hint").is_hidden()
    page.click("#submit")
    assert page.inner_text("#decide-hint").startswith("Nothing to submit")
    assert page.text_content("#spoken").startswith("Nothing to submit")
    page.wait_for_selector("#rows .word")  # what comes later leaves it there
    assert page.locator("#decide-hint").is_visible()
    page.locator("#rows .row[data-label=food] .accepted").click()
    assert page.locator("#decide-hint").is_hidden()


@pytest.mark.parametrize("name", ["none.txt", "none.csv"])
def test_an_empty_file_is_called_empty_until_another_tab_is_shown(
    visit, shared, tmp_path, name
):
    (tmp_path / name).write_text("\n \n")
    page = visit(shared.url, model="batch")
    page.set_input_files("#file", tmp_path / name)
    page.wait_for_selector("#notice:not([hidden])")
    assert page.inner_text("#notice-text").startswith(f"{name} is empty")
    page.click("#to-figures")
    page.wait_for_selector("#notice", state="hidden")


def test_a_roll_back_to_what_is_not_in_the_log_names_the_number(visit, shared):
    page = visit(shared.url + "#versions", model="batch")
    page.wait_for_selector("#versions tbody tr")
    for number, why in (("99999", r"it must be at most \d+"), ("0", "had a version")):
        page.fill("#rollback-to", number)
        page.click("#rollback button")
        page.click("#confirm-yes")
        told = page.locator("#notice-text").filter(has_text=f"no event {number} ")
        told.wait_for()
        assert re.search(why, told.inner_text())
        assert "sequence" not in told.inner_text()


def test_what_is_too_long_is_told_in_words_of_the_page(visit, shared):
    page = visit(shared.url, model="batch")
    page.fill("#text", "pie " * 30_000)
    page.click("#suggest")
    page.wait_for_selector("#notice:not([hidden])")
    said = page.inner_text("#notice-text")
    assert said == "A text may have at most 100,000 characters."
    suggest(page, "an apple pie")
    page.click("#add")
    page.keyboard.insert_text("a" * 500)
    assert len(page.input_value("#add")) == 200
    page.get_by_role("option", name="new label").wait_for()


def test_the_page_says_what_retraining_does_to_corrections(visit, shared):
    page = visit(shared.url + "#versions", model="batch")
    assert "may fall in score" in page.inner_text("[aria-labelledby=retrain-title]")

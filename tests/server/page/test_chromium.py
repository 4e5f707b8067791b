"""The page in Chromium, against the service: tag, correct, relearn, take back."""

import re
import subprocess
import sys
import urllib.request

import pytest

import manylabel as ml

pytestmark = pytest.mark.slow
each_kind = pytest.mark.parametrize("model", ["batch", "online"])


def ask(page, text):
    """Type a text and wait for its labels."""
    page.fill("#text", text)
    page.click("#suggest")
    page.wait_for_function(
        "text => JSON.parse(sessionStorage['manylabel.draft']).asked === text", arg=text
    )
    page.wait_for_selector("#rows .row")
    return scores(page)


def scores(page):
    """Return the labels that are shown, with their numbers."""
    found = page.eval_on_selector_all(
        "#rows .row",
        "rows => rows.map(row => [row.dataset.label,"
        " row.querySelector('.score').textContent])",
    )
    return {name: number(text) for name, text in found}


def number(text):
    return 0.0 if text.startswith("<") else float(text.removesuffix(" %"))


def row(page, label):
    return page.locator(f"#rows .row[data-label={label!r}]")


def submit(page):
    """Submit and return the number under which it was learnt."""
    page.click("#submit")
    page.wait_for_selector("#outcome:not([hidden])")
    page.wait_for_selector("#labels[aria-busy=false]")
    return int(re.search(r"event (\d+)", page.inner_text("#outcome"))[1])


def test_a_text_is_tagged_and_its_words_are_explained(visit, shared):
    page = visit(shared.url, model="batch")
    found = ask(page, "white wine and cheese")
    assert next(iter(found)) == "drink"
    assert found["drink"] > found["food"]
    words = row(page, "drink").locator(".word.for")
    words.first.wait_for()
    assert "wine" in " ".join(words.all_inner_texts())


@each_kind
def test_a_correction_changes_the_next_prediction_of_a_similar_text(
    visit, shared, model
):
    page = visit(shared.url, model=model)
    before = ask(page, "apple pie for two")
    ask(page, "an apple pie")
    row(page, "food").locator(".accepted").click()
    row(page, "drink").locator(".rejected").click()
    page.check("#complete")
    submit(page)
    assert row(page, "food").locator(".change.up").inner_text().startswith("▲")
    assert row(page, "food").locator(".ghost").is_visible()
    after = ask(page, "apple pie for two")
    assert after["food"] > before["food"]
    assert row(page, "food").locator(".change.up").inner_text().startswith("▲")


@each_kind
def test_a_new_label_is_suggested_once_it_was_added(visit, shared, model):
    page = visit(shared.url, model=model)
    for text in ("green tea leaves", "tea leaves in a pot"):
        ask(page, text)
        page.fill("#add", f"tea {model}")
        page.get_by_role("option", name=f"tea {model}").first.click()
        row(page, f"tea {model}").locator(".accepted[aria-pressed=true]").wait_for()
        submit(page)
    assert f"tea {model}" in ask(page, "green tea in a pot")


@each_kind
def test_a_correction_can_be_undone(visit, shared, model):
    page = visit(shared.url, model=model)
    before = ask(page, "bottles of elderflower syrup")
    row(page, "food").locator(".accepted").click()
    row(page, "drink").locator(".rejected").click()
    submit(page)
    assert scores(page) != before
    page.get_by_role("button", name="Undo").click()
    page.wait_for_selector("#outcome", state="hidden")
    page.wait_for_function(
        "() => document.querySelector('#spoken').textContent.match(/back/)"
    )
    assert scores(page) == before


@each_kind
def test_a_rollback_takes_back_what_was_learnt_after_an_event(visit, server, model):
    page = visit(server.url, model=model)
    before = ask(page, "apple pie")
    numbers = []
    for text in ("an apple pie", "apple pie and cream"):
        ask(page, text)
        row(page, "food").locator(".accepted").click()
        row(page, "drink").locator(".rejected").click()
        numbers.append(submit(page))
    assert ask(page, "apple pie") != before
    page.click("#to-versions")
    page.fill("#rollback-to", str(numbers[0] - 1))
    page.get_by_role("button", name="Roll back", exact=True).last.click()
    page.click("#confirm-no")
    page.wait_for_selector("#history li:nth-child(2)")
    page.get_by_role("button", name=f"Roll back to before event {numbers[0]}").click()
    page.click("#confirm-yes")
    page.wait_for_selector("#history-said:not(:empty)")
    assert page.locator("#history li[data-state='left out']").count() == 2
    assert page.locator("#history button").count() == 0
    page.click("#to-label")
    assert ask(page, "apple pie") == before


def test_curves_and_counts_follow_the_corrections(visit, server):
    page = visit(server.url + "#figures", model="batch")
    page.wait_for_selector("#costs-empty", state="visible")
    page.click("#to-label")
    for text in ("an apple pie", "apple juice", "pear juice"):
        ask(page, text)
        row(page, "food").locator(".accepted").click()
        submit(page)
    page.click("#to-figures")
    page.wait_for_selector("#costs figure")
    page.wait_for_function(
        "() => document.querySelector('#frequencies .score')?.textContent === '3'"
    )
    points = page.get_attribute("#costs polyline.recent", "points").split()
    assert len(points) == 3
    named = page.get_by_role("img", name=re.compile("after 3 corrections"))
    assert named.count() == page.locator("#costs figure").count() >= 2


def measure_wait(page, typed):
    """Return the milliseconds between a key and the labels that fit."""
    page.fill("#add", "")
    page.evaluate("window.waits.length = 0")
    page.fill("#add", typed)
    page.wait_for_function("() => window.waits.length > 0")
    return page.evaluate("window.waits")[0]


def test_a_label_is_found_among_100000_without_lag(visit, many):
    page = visit(many.url)
    ask(page, "text 7")
    page.wait_for_function(  # so many names are sorted a moment after the start
        "() => fetch('v1/models/many/labels').then(it => it.json())"
        ".then(it => it.labels.length)"
    )
    page.evaluate(
        """() => {
            window.waits = [];
            const list = document.querySelector("#add-options");
            const now = () => performance.now();
            document.addEventListener("input", () => { window.typed = now(); }, true);
            new MutationObserver(() => {
                if (list.children.length) window.waits.push(now() - window.typed);
            }).observe(list, { childList: true });
        }"""
    )
    for typed in ("t", "topic 0", "topic 099", "topic 099999", "group 97", "976"):
        waits = [measure_wait(page, typed) for _ in range(3)]
        assert min(waits) < 250  # milliseconds, of which 60 are the pause after a key
        assert 1 < page.locator("#add-options li").count() <= 21
    page.fill("#add", "topic 099999")
    page.get_by_role("option", name="topic 099999").first.wait_for()
    page.keyboard.press("Enter")
    row(page, "topic 099999 of group 345").wait_for()


def test_markup_in_labels_and_texts_stays_text(visit, server):
    page = visit(server.url, model="odd")
    script = "<script>window.broken = 1</script>"
    evil = f"word1 <img src=x onerror='window.broken = 1'>{script}"
    assert {"javascript:window.broken=1", "__proto__", script} <= set(ask(page, evil))
    new = "<iframe srcdoc='<script>parent.broken = 1</script>'>"
    page.fill("#add", new)
    page.locator("#add-options li").last.click()
    for label in ("__proto__", script):
        page.get_by_role("button", name=f"Accept {label}").click()
    submit(page)
    for view in ("figures", "versions", "label"):
        page.click(f"#to-{view}")
        page.wait_for_timeout(300)
    page.reload()
    page.wait_for_selector("#rows .row")
    assert new in scores(page)
    assert page.input_value("#text") == evil
    assert page.evaluate("window.broken") is None
    strangers = "main img, main script, main iframe, main a[href^=javascript]"
    assert page.locator(strangers).count() == 0
    page.click("#to-versions")
    page.wait_for_selector("#history li")
    assert "<img src=x" in page.inner_text("#history")


def test_the_keyboard_alone_is_enough(visit, shared):
    page = visit(shared.url, model="batch")
    page.evaluate("document.activeElement.blur()")
    press = page.keyboard.press
    press("?")
    page.wait_for_selector("#help-dialog[open]")
    press("Escape")
    press("t")
    page.keyboard.type("rye bread with quince")
    press("Control+Enter")
    page.wait_for_selector("#rows .row:focus")
    first = page.evaluate("document.activeElement.dataset.label")
    press("a")
    assert row(page, first).locator(".accepted").get_attribute("aria-pressed") == "true"
    assert page.evaluate("document.activeElement.dataset.label") != first
    press("r")
    press("/")
    page.keyboard.type("drin")
    page.wait_for_selector("#add-options li[aria-selected=true]")
    active = page.get_attribute("#add", "aria-activedescendant")
    assert page.inner_text(f"#{active}").startswith("drink")
    press("ArrowDown")
    assert page.get_attribute("#add", "aria-activedescendant") != active
    press("Escape")
    assert page.get_attribute("#add", "aria-expanded") == "false"
    press("Tab")
    assert page.evaluate("document.activeElement.id") == "complete"
    press("Space")
    press("Control+Enter")
    page.wait_for_selector("#outcome:not([hidden])")
    press("2")
    page.wait_for_selector("#view-figures:not([hidden])")
    press("3")
    page.wait_for_selector("#view-versions:not([hidden])")
    press("1")
    page.wait_for_selector("#view-label:not([hidden])")


def test_focus_can_be_seen_at_each_stop(visit, shared):
    page = visit(shared.url, model="batch")
    ask(page, "white wine")
    page.evaluate("document.activeElement.blur()")
    stops = []
    for _ in range(30):
        page.keyboard.press("Tab")
        stop, width = page.evaluate(
            "[document.activeElement.id || document.activeElement.textContent,"
            " getComputedStyle(document.activeElement).outlineWidth]"
        )
        if stops and stop == stops[0]:
            break
        stops.append(stop)
        assert float(width.removesuffix("px")) >= 2 or stop.startswith("\n"), stop
    assert {"text", "model", "add", "complete", "submit", "help-open"} <= set(stops)


def test_what_was_typed_and_said_outlives_a_restart_of_the_server(visit, server):
    page = visit(server.url, model="batch")
    ask(page, "an apple pie")
    row(page, "food").locator(".accepted").click()
    server.kill()
    page.wait_for_selector("#connection.offline")
    page.click("#submit")
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    assert 0 < page.locator("#connection").bounding_box()["y"] < 700
    page.wait_for_function(
        "() => document.querySelector('#submit').textContent === 'Sending…'"
    )
    page.fill("#text", "an apple pie!")
    server.start()
    page.wait_for_selector("#connection.online")
    page.wait_for_function(
        "() => document.querySelector('#submit').textContent !== 'Sending…'"
    )
    assert page.input_value("#text") == "an apple pie!"
    page.click("#to-versions")
    page.wait_for_selector("#history li")
    assert page.locator("#history li").count() == 1


def test_an_answer_that_is_lost_is_asked_for_again_by_the_same_key(visit, server):
    page = visit(server.url, model="batch")
    ask(page, "an apple pie")
    row(page, "food").locator(".accepted").click()
    keys = []

    def lose_the_first(route):
        keys.append(route.request.headers["idempotency-key"])
        answer = route.fetch()
        if len(keys) == 1:
            route.abort()
        else:
            route.fulfill(response=answer)

    page.route("**/feedback", lose_the_first)
    number = submit(page)
    assert len(keys) == 2
    assert keys[0] == keys[1]
    with urllib.request.urlopen(f"{server.url}v1/models/batch/figures") as answer:
        assert f'"acknowledged":{number}' in answer.read().decode()


def test_a_token_is_asked_for_and_ends_with_the_tab(visit, browser, server):
    command = [sys.executable, "-m", "manylabel.cli.main", "token", "add", "ann"]
    options = ["--scope", "read,feedback", "--models", str(server.models)]
    ran = subprocess.run([*command, *options], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    secret = re.search(r"ml_[\w-]+", ran.stdout)[0]
    page = browser.new_page()
    page.goto(server.url)
    page.get_by_role("button", name="Enter a token").click()
    page.fill("#token", secret)
    page.keyboard.press("Enter")
    page.wait_for_selector("#model option", state="attached")
    page.select_option("#model", "batch")
    ask(page, "an apple pie")
    row(page, "food").locator(".accepted").click()
    submit(page)
    page.click("#to-versions")
    page.fill("#rollback-to", "2")
    page.get_by_role("button", name="Roll back", exact=True).last.click()
    page.click("#confirm-yes")
    page.wait_for_selector("#notice:not([hidden])")
    assert "scope admin" in page.inner_text("#notice-text")
    assert secret not in page.content()
    assert page.evaluate("localStorage.length + document.cookie.length") == 0
    page.close()
    page = browser.new_page()
    page.goto(server.url)
    page.get_by_role("button", name="Enter a token").wait_for()
    page.close()


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_its_screen(visit, shared, tmp_path, width, scheme):
    viewport = {"width": width, "height": 800}
    page = visit(shared.url, model="batch", viewport=viewport, color_scheme=scheme)
    ask(page, "white wine with brown bread, " + "a-very-long-word-" * 20)
    page.fill("#add", "d")
    page.wait_for_selector("#add-options li")
    grounds = set()
    for view in ("label", "figures", "versions"):
        page.click(f"#to-{view}")
        page.wait_for_selector(f"#view-{view}:not([hidden])")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
        shot = page.screenshot(path=tmp_path / f"{view}.png", full_page=True)
        assert len(shot) > 5_000
        grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert grounds == {"rgb(246, 247, 247)" if scheme == "light" else "rgb(18, 23, 26)"}


def test_nothing_moves_for_those_who_asked_for_that(visit, shared):
    page = visit(shared.url, model="batch", reduced_motion="reduce")
    ask(page, "white wine")
    style = "getComputedStyle(document.querySelector('.fill')).transitionDuration"
    assert page.evaluate(style) == "0s"


def test_nothing_is_asked_of_anybody_but_the_server(visit, shared):
    page = visit(shared.url, model="batch")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    page.wait_for_selector("#connection.online")
    ask(page, "white wine")
    assert asked
    assert all(url.startswith(shared.url) for url in asked)


def test_texts_that_were_not_corrected_wait_in_the_queue(visit, server):
    page = visit(server.url, model="batch")
    ask(page, "a jar of plums")
    ask(page, "a jar of pears")
    waiting = page.locator("#queue .item").filter(has_text="plums")
    waiting.click()
    page.wait_for_selector("#rows .row:focus")
    assert page.input_value("#text") == "a jar of plums"
    row(page, "food").locator(".accepted").click()
    submit(page)
    page.locator("#queue .item").filter(has_text="pears").wait_for()
    assert page.locator("#queue .item").count() == 1
    page.click("#submit")  # on to the next
    page.wait_for_function("() => document.querySelector('#text').value.match(/pears/)")


def test_the_queue_can_be_a_file(visit, server, tmp_path):
    file = tmp_path / "<b>texts.txt"
    file.write_text("old brown bread\n\nred wine\nold brown bread\n<i>no idea</i>\n")
    page = visit(server.url, model="batch")
    page.set_input_files("#file", file)
    page.wait_for_function(
        "() => document.querySelectorAll('#queue .item').length === 3"
    )
    assert page.inner_text("#queue-hint") == "3 texts left of <b>texts.txt."
    page.locator("#queue .item").filter(has_text="<i>no idea</i>").click()
    page.wait_for_selector("#rows .row:focus")
    row(page, "food").locator(".accepted").click()
    submit(page)
    page.wait_for_function(
        "() => document.querySelectorAll('#queue .item').length === 2"
    )
    page.click("#no-file")
    page.wait_for_function("() => !document.querySelectorAll('#queue .item').length")


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_files_of_other_encodings_are_read(visit, server, tmp_path, encoding):
    file = tmp_path / "texts.txt"
    file.write_text("Vögel im Märchen\nrosé", encoding=encoding)
    page = visit(server.url, model="batch")
    page.set_input_files("#file", file)
    page.locator("#queue .item").filter(has_text="Vögel im Märchen").click()
    assert page.input_value("#text") == "Vögel im Märchen"
    page.click("#no-file")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("table.txt", "id;title\n1;red wine\n2;bread\n"),
        ("a.CSV", 'id,text\n1,"a, b"\n'),
    ],
)
def test_a_table_is_not_read_as_texts(visit, server, tmp_path, name, content):
    (tmp_path / name).write_text(content)
    (tmp_path / "texts.txt").write_text("red wine\n")
    page = visit(server.url, model="batch")
    page.set_input_files("#file", tmp_path / name)
    page.wait_for_selector("#notice:not([hidden])")
    assert f"{name} is a table" in page.inner_text("#notice-text")
    assert page.locator("#no-file").is_hidden()
    page.set_input_files("#file", tmp_path / "texts.txt")
    page.wait_for_selector("#no-file:not([hidden])")
    assert page.locator("#notice").is_hidden()
    page.click("#no-file")


def test_versions_are_compared_and_activated(visit, server):
    page = visit(server.url, model="batch")
    before = ask(page, "red wine")
    other = ml.Tagger(ml.OneVsRest()).fit(["red wine", "bread"] * 5, [["x"], ["y"]] * 5)
    other.save(server.models / "batch")
    page.click("#to-versions")
    while page.locator("#versions tbody tr").count() < 2:
        page.wait_for_timeout(500)
        page.reload()
        page.wait_for_selector("#versions tbody tr")
    page.get_by_role("button", name=re.compile("^Compare")).click()
    page.get_by_role("button", name=re.compile("^Stop comparing")).wait_for()
    page.click("#to-label")
    assert set(ask(page, "red wine today")) == {"x", "y"}
    row(page, "y").locator(".accepted").click()
    submit(page)
    page.click("#to-versions")
    page.wait_for_selector("#versions tbody tr:nth-child(2) .number:not(:empty)")
    page.get_by_role("button", name=re.compile("^Activate")).click()
    page.click("#confirm-yes")
    page.wait_for_function(
        "() => document.querySelector('#versions tbody tr:nth-child(2) .badge')"
    )
    page.click("#to-label")
    assert next(iter(ask(page, "red wine"))) == next(iter(before))

"""The files of the page keep to the policy that the server sends with them."""

import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from manylabel.server.static import read_page

PAGE = files("manylabel.server").joinpath("page")
TEXTS = {
    file.name: file.read_text(encoding="utf-8")
    for file in PAGE.iterdir()
    if not file.name.startswith((".", "__"))
}
MODULES = sorted(name for name in TEXTS if name.endswith(".js"))
INDEX = TEXTS["index.html"]
EMPTY = {"img", "input", "link", "meta"}
MOST_LINES = 310
each_module = pytest.mark.parametrize("name", MODULES)


class Reader(HTMLParser):
    """Reads elements, and minds that each is closed."""

    def __init__(self):
        super().__init__()
        self.elements, self.open = [], []

    def handle_starttag(self, tag, attributes):
        """Note an element."""
        self.elements.append((tag, dict(attributes)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        """Close the last that is open."""
        assert self.open.pop() == tag, f"</{tag}> at {self.getpos()}"

    def handle_data(self, data):
        """Refuse code that stands in the page itself."""
        assert not data.strip() or self.open[-1] not in ("script", "style")


@pytest.fixture(scope="module")
def elements():
    reader = Reader()
    reader.feed(INDEX)
    reader.close()
    assert reader.open == []
    return reader.elements


def test_all_files_are_served():
    served = {file.path.removeprefix("/") or "index.html" for file in read_page()}
    assert served == set(TEXTS)


def test_the_index_has_no_script_style_or_handler_of_its_own(elements):
    for tag, attributes in elements:
        assert tag != "style"
        assert tag != "script" or attributes["src"] in TEXTS
        assert not [name for name in attributes if name.startswith("on")]
        assert "style" not in attributes


def test_nothing_is_loaded_from_elsewhere(elements):
    for tag, attributes in elements:
        for name in {"src", "href", "action"} & set(attributes):
            target = attributes[name]
            assert target in TEXTS or target.startswith("#"), f"{tag} {target}"
    for name, text in TEXTS.items():
        found = re.findall(r"https?://[^\"'\s]+", text)
        assert set(found) <= {"http://www.w3.org/2000/svg"}, name
        assert "url(" not in text
        assert "@import" not in text


def test_ids_are_unique(elements):
    ids = [attributes["id"] for _, attributes in elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_controls_have_a_name(elements):
    named = {attributes.get("for") for tag, attributes in elements if tag == "label"}
    wrapped = re.findall(r'<label[^>]*>[^\n]*?<(?:select|input) id="([\w-]+)"', INDEX)
    for tag, attributes in elements:
        if tag in ("input", "select", "textarea", "progress"):
            is_named = {"aria-label", "aria-labelledby"} & set(attributes)
            assert is_named or attributes["id"] in named | set(wrapped), attributes


def test_references_of_the_index_lead_somewhere(elements):
    ids = {attributes.get("id") for _, attributes in elements}
    for _, attributes in elements:
        for name in ("for", "aria-labelledby", "aria-describedby", "aria-controls"):
            assert set(attributes.get(name, "").split()) <= ids


@each_module
def test_modules_make_no_markup_and_no_code(name):
    risky = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|srcdoc"
    risky += r"|\beval\b|new Function|setTimeout\(\s*[\"'`]|createContextualFragment"
    assert not re.search(risky, TEXTS[name])
    assert "localStorage" not in TEXTS[name]  # a token ends with its tab
    assert not re.search(r"setAttribute\(\s*\"(style|on\w+|href|src)\"", TEXTS[name])


@each_module
def test_ids_that_modules_use_are_in_the_index(name, elements):
    ids = {attributes.get("id") for _, attributes in elements}
    used = set(re.findall(r'byId\("([\w-]+)"\)', TEXTS[name]))
    used |= set(re.findall(r'closest\?*\.*\("#([\w-]+)', TEXTS[name]))
    assert used <= ids


@each_module
def test_imports_of_modules_lead_somewhere(name):
    for names, target in re.findall(
        r"import \{([^}]*)\} from \"\./([\w.]+)\"", TEXTS[name]
    ):
        exported = set(
            re.findall(
                r"export (?:async )?(?:function|class|const) (\w+)", TEXTS[target]
            )
        )
        wanted = {each.strip() for each in names.split(",") if each.strip()}
        assert wanted <= exported, target
        body = re.sub(r"import [^;]*;", "", TEXTS[name])
        assert all(re.search(rf"\b{each}\b", body) for each in wanted), target


@each_module
def test_files_stay_small(name):
    assert TEXTS[name].count("\n") <= MOST_LINES


def test_colours_of_text_can_be_read_in_light_and_dark():
    light, dark = re.findall(r":root \{(.*?)\}", TEXTS["style.css"], re.DOTALL)[:2]
    for block in (light, dark):
        colours = dict(re.findall(r"--([\w-]+): (#\w{6})", block))
        pairs = [("ink", "page"), ("ink", "card"), ("quiet", "page"), ("quiet", "card")]
        pairs += [("quiet", "tint"), ("accent", "card"), ("accent", "tint")]
        pairs += [("yes", "card"), ("no", "card"), ("yes", "yes-tint"), ("yes", "tint")]
        pairs += [("no", "tint"), ("on-accent", "accent"), ("ink", "warn-tint")]
        pairs += [("card", "yes"), ("card", "no"), ("accent", "yes-tint")]
        pairs += [("accent", "warn-tint"), ("ink", "tint")]
        for front, back in pairs:
            assert contrast(colours[front], colours[back]) >= 4.5, (front, back)
        for front in ("edge", "bar", "warn-edge"):
            assert contrast(colours[front], colours["card"]) >= 2.5, front


def contrast(one, other):
    """Return the ratio of two colours as WCAG 2.2 has it."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from gym_codefix.leaderboard import build_page

HOSTILE = (
    "</script><script>alert(1)</script></pre></details><img src=x onerror=alert(2)> "
    "\"double\" 'single' & \x00 \u202egnp.exe\u202c \ud800 \u200b"
)
VOID = {"meta", "br", "link"}


class Reader(HTMLParser):
    """Collects elements, ids, links and text, and checks that every element is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def tags(self, name):
        return [attributes for tag, attributes in self.seen if tag == name]


def read(path) -> Reader:
    reader = Reader()
    reader.feed(path.read_text("utf-8"))
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture
def runs(run_of, result_of, suite, record_of):
    hostile = run_of(attempts=3)
    hostile[0] = replace(hostile[0], action=HOSTILE, action_error=HOSTILE, malformed=True)
    hostile[3] = replace(hostile[3], action="", tampering=True)
    hostile[6] = replace(hostile[6], reward_valid=False, failure_reason="worker killed")
    return [
        (result_of(hostile, agent="<b>tester</b>", records_file="t.jsonl"), hostile),
        *(
            (result_of(records, agent=agent), records)
            for agent, resolved in (("gold", True), ("noop", False))
            for records in [[record_of(task, resolved=resolved) for task in suite]]
        ),
    ]


@pytest.fixture
def page(tmp_path, runs):
    build_page(runs, tmp_path / "page.html", title="Repair <lite>")
    return tmp_path / "page.html"


def test_hostile_text_is_shown_and_never_runs(page):
    reader = read(page)
    assert len(reader.tags("script")) == 1
    assert reader.tags("img") == []
    assert not any(key.startswith("on") for _, attributes in reader.seen for key in attributes)
    text = page.read_text("utf-8")
    for hidden in "\x00\u202e\u202c\u200b":
        assert hidden not in text
    for shown in ("U+0000", "U+202E", "U+D800", "U+200B"):
        assert shown in reader.text
    assert "</script><script>alert(1)</script></pre></details>" in "".join(reader.text)


def test_the_page_needs_nothing_from_elsewhere(page):
    reader = read(page)
    for _, attributes in reader.seen:
        assert not {"src", "style", "srcset"} & attributes.keys()
        assert (attributes.get("href") or "#").startswith("#")
    assert "url(" not in page.read_text("utf-8")
    assert "default-src 'none'" in str(reader.tags("meta"))


def test_every_link_leads_to_an_id_and_ids_are_unique(page, runs):
    reader = read(page)
    ids = [attributes["id"] for _, attributes in reader.seen if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {link["href"][1:] for link in reader.tags("a")} <= set(ids)
    assert sum(each.startswith("episode-") for each in ids) == sum(len(r) for _, r in runs)


def test_tables_have_captions_and_scopes(page):
    reader = read(page)
    assert len(reader.tags("caption")) == len(reader.tags("table")) == 2
    assert all(head.get("scope") in ("row", "col") for head in reader.tags("th"))
    assert all("aria-label" in svg or "aria-hidden" in svg for svg in reader.tags("svg"))


def test_the_page_says_what_a_replay_proves(page):
    text = "".join(read(page).text)
    assert "a pretrained model may have seen the fix" in text
    assert "does not prove who wrote it" in text


def test_the_same_runs_give_the_same_page_in_any_order(tmp_path, page, runs):
    build_page(runs[::-1], tmp_path / "again.html", title="Repair <lite>")
    assert (tmp_path / "again.html").read_bytes() == page.read_bytes()


def test_each_outcome_is_named(page):
    outcomes = set(read(page).text)
    assert {"resolved", "unresolved", "invalid", "tampering", "malformed"} <= outcomes
    assert "The agent wrote nothing." in outcomes
    assert "worker killed" in outcomes


def test_long_names_keep_their_end_in_charts(tmp_path, run_of, result_of):
    records = run_of()
    name = "some-model-of-seven-billion-tuned"
    build_page([(result_of(records, agent=name), records)], tmp_path / "p.html", title="Long")
    assert "some-mod…on-tuned" in read(tmp_path / "p.html").text


def test_suites_are_ranked_apart(tmp_path, runs, result_of, run_of):
    records = run_of()
    other = result_of(records, agent="elsewhere", suite_name="full", suite_hash="b" * 64)
    build_page([*runs, (other, records)], tmp_path / "two.html", title="Two")
    headings = "".join(read(tmp_path / "two.html").text)
    assert "Suite full" in headings
    assert "Suite lite" in headings


def test_environments_of_one_suite_stand_side_by_side(tmp_path, runs, result_of, run_of):
    records = [replace(each, env_id="gym_codefix/CodeRepair-Full-v0") for each in run_of()]
    loop = result_of(records, agent="looper")
    build_page([*runs, (loop, records)], tmp_path / "two.html", title="Two")
    headings = "".join(read(tmp_path / "two.html").text)
    assert "Suite lite, CodeRepair-Simple-v0" in headings
    assert "Suite lite, CodeRepair-Full-v0" in headings
    assert "The same tasks of suite lite in every environment" in headings


def test_a_huge_action_is_cut_and_says_so(tmp_path, run_of, result_of):
    records = run_of()
    records[0] = replace(records[0], action="x" * 1_000_000)
    build_page([(result_of(records), records)], tmp_path / "p.html", title="Huge")
    assert (tmp_path / "p.html").stat().st_size < 200_000
    assert "of 1000000 characters" in "".join(read(tmp_path / "p.html").text)


def test_a_page_needs_a_run(tmp_path):
    with pytest.raises(ValueError, match="at least one result"):
        build_page([], tmp_path / "p.html", title="Empty")

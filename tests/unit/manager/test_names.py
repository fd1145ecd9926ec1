"""What tools are called where many servers meet."""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncline import ConfigError
from syncline.manager import names
from syncline.manager.names import namespaces, qualified

if TYPE_CHECKING:
    from syncline.manager.names import Raw

HASHED = re.compile(r"_[0-9a-f]{12}\Z")
#: Names that collide often: few letters, some that are replaced, and some that are long.
WORDS = st.one_of(st.text("ab_-. é", max_size=6), st.text("ab._", min_size=100, max_size=140), st.text(max_size=20))


def name_of(server: str, tool: str, *others: Raw, prefix: str = names.PREFIX) -> str:
    tools = [(server, tool), *others]
    return qualified(tools, namespaces({server for server, _ in tools}, prefix))[server, tool]


@given(st.lists(st.tuples(WORDS, WORDS), max_size=30), st.randoms(), st.sampled_from(["mcp__", "", "a"]))
def test_names_are_unique_short_stable_and_map_back(tools: list[Raw], random: Random, prefix: str) -> None:
    """3.108: unique, at most 128 characters, the same in any order, and each stands for one tool."""
    servers = [server for server, _ in tools]
    found = qualified(tools, namespaces(servers, prefix))
    assert found.keys() == set(tools)
    assert len(set(found.values())) == len(found)
    assert all(re.fullmatch(r"[A-Za-z0-9_]{1,128}", name) for name in found.values())
    back = {name: raw for raw, name in found.items()}
    assert all(back[found[raw]] == raw for raw in tools)
    random.shuffle(tools)
    random.shuffle(servers)
    assert qualified(tools, namespaces(servers, prefix)) == found


@given(st.lists(st.tuples(WORDS, WORDS), max_size=10), WORDS)
def test_a_server_that_comes_later_renames_nothing(tools: list[Raw], late: str) -> None:
    """The names of a server's tools do not depend on whether another one has listed its own."""
    spaces = namespaces([late, *(server for server, _ in tools)])
    before = qualified([raw for raw in tools if raw[0] != late], spaces)
    after = qualified(tools, spaces)
    assert all(after[raw] == name for raw, name in before.items())


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [
        ("github", "list_issues", "mcp__github__list_issues"),
        ("my-server", "tool.two-three", "mcp__my_server__tool_two_three"),
        ("a/b:c@d e", "x", "mcp__a_b_c_d_e__x"),
        ("é", "naïve", "mcp_____na_ve"),
        ("mcp__x", "y", "mcp__x__y"),
        ("UPPER", "Case9", "mcp__UPPER__Case9"),
    ],
)
def test_characters_are_replaced(server: str, tool: str, name: str) -> None:
    """3.100, 3.101, 3.16: letters, digits and underscores are left; a prefix that is there is not put there again."""
    assert name_of(server, tool) == name


def test_the_prefix_can_be_another_one() -> None:
    """3.100: or none."""
    assert name_of("git", "log", prefix="") == "git__log"
    assert name_of("git", "log", prefix="tools_") == "tools_git__log"
    for bad in ("mcp:", "x" * 65, "é"):
        with pytest.raises(ConfigError, match="a prefix has ASCII letters"):
            names.checked_prefix(bad)


def test_servers_that_collide_are_both_hashed() -> None:
    """3.104: both, not just the second, also if their tools differ."""
    spaces = namespaces(["basic-server", "basic_server", "other"])
    assert spaces["other"] == "mcp__other"
    hashed = {spaces["basic-server"], spaces["basic_server"]}
    assert len(hashed) == 2
    assert all(HASHED.search(space) and space.startswith("mcp__basic_server_") for space in hashed)
    assert namespaces(["mcp__x", "x"]).keys() == {"mcp__x", "x"}
    assert len(set(namespaces(["mcp__x", "x"]).values())) == 2


def test_tools_that_collide_are_both_hashed() -> None:
    """3.105: each from its own raw name."""
    found = {name_of("s", "a-b", ("s", "a_b")), name_of("s", "a_b", ("s", "a-b"))}
    assert len(found) == 2
    assert all(HASHED.search(name) and name.startswith("mcp__s__a_b_") for name in found)


@pytest.mark.parametrize(("server", "other", "tool"), [("a", "a__b", "b__c"), ("a", "a_", "_c"), ("a", "a-", ".c")])
def test_no_server_takes_a_name_that_begins_like_those_of_another(server: str, other: str, tool: str) -> None:
    """B183: whether that one has a tool of this name, and has listed it yet, or not."""
    spaces = namespaces([server, other])
    theirs = f"{spaces[other]}__c"
    for tools in ([(server, tool)], [(server, tool), (other, "c")]):
        found = qualified(tools, spaces)
        assert HASHED.search(found.pop((server, tool)))
        assert set(found.values()) <= {theirs}


def test_a_tool_that_is_called_like_a_hash_is_not_run_over() -> None:
    """3.108: hashed again."""
    first = name_of("s", "a-b", ("s", "a_b"))
    own = first.removeprefix("mcp__s__")
    found = qualified([("s", "a-b"), ("s", "a_b"), ("s", own)], namespaces(["s"]))
    assert found["s", own] == first
    assert len(set(found.values())) == 3


def test_long_names_are_cut_to_the_limit() -> None:
    """3.106: 128 stays as it is, 129 becomes 128 with a hash."""
    room = 128 - len("mcp__s__")
    assert name_of("s", "x" * room) == "mcp__s__" + "x" * room
    cut = name_of("s", "x" * (room + 1))
    assert len(cut) == 128
    assert HASHED.search(cut)


def test_a_server_that_leaves_no_room_is_cut() -> None:
    """3.107: the hash is the tool's name then."""
    name = name_of("s" * 130, "tool")
    assert len(name) == 128
    assert re.fullmatch(r"mcp__s+___[0-9a-f]{12}", name)


def test_two_long_names_that_begin_alike_differ() -> None:
    """B184: also `a.b` and `a/b`, in whatever order."""
    one, two = "t" * 70 + "x" * 70, "t" * 70 + "y" * 70
    assert name_of("s", one, ("s", two)) != name_of("s", two, ("s", one))
    assert qualified([("s", "a.b"), ("s", "a/b")], namespaces(["s"])) == qualified(
        [("s", "a/b"), ("s", "a.b")], namespaces(["s"])
    )

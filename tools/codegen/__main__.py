"""``python -m tools.codegen``: reduce published schemas, add revisions, generate the wire package."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import generate, reduce
from .inputs import ROOT, parse_json, read_json, shown
from .pins import REVISION, Pin, digest, fetch, origin, pin_text, read_pins, verify
from .problems import Problem

SCHEMA = ROOT / "schema"
GENERATED = ROOT / "generated"
PAGE = "https://modelcontextprotocol.io/specification/{name}/schema#{{anchor}}"
OVERLAY = "# Fixes to the facts of this revision; see ../README.md.\n"


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit status."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.command(options)
    except Problem as problem:
        print(problem, file=sys.stderr)
        return 1
    return status


def run_generate(options: argparse.Namespace) -> int:
    files = generate.build(options.schema)
    if not options.check:
        generate.write(files, options.out)
        return 0
    diff = generate.drift(files, options.out)
    if diff:
        sys.stdout.write(diff)
        print("generated/ is not what schema/ makes of it: run `nox -s generate`", file=sys.stderr)
    return 1 if diff else 0


def run_reduce(options: argparse.Namespace) -> int:
    """Reduce the published file of a pinned module again, and refuse one that is not the pinned file."""
    pin = next((pin for pin in read_pins(options.schema) if pin.name == options.name), None)
    if pin is None:
        raise Problem(shown(options.schema / "pins.toml"), f"/{options.name}", "no such pin; `add` makes one")
    published = fetch(options.source)
    verify(published, pin.sha256, options.source, "schema/pins.toml")
    reduced = _reduction(published, options)
    verify(reduced, pin.reduced, options.source + " (reduced)", "schema/pins.toml")
    pin.schema_path(options.schema).write_bytes(reduced)
    return 0


def run_add(options: argparse.Namespace) -> int:
    """Reduce a published file and pin it."""
    path = options.schema / "pins.toml"
    if any(pin.name == options.name for pin in read_pins(options.schema)):
        raise Problem(shown(path), f"/{options.name}", "is pinned already; `reduce` repeats its reduction")
    if not REVISION.fullmatch(options.name):
        raise Problem(options.source, "", f"{options.name!r} is not a revision: YYYY-MM-DD is expected")
    published = fetch(options.source)
    reduced = _reduction(published, options)
    digests = {"sha256": digest(published), "reduced": digest(reduced)}
    pin = Pin(options.name, PAGE.format(name=options.name), **origin(options.source), **digests)
    pin.schema_path(options.schema).parent.mkdir(parents=True, exist_ok=True)
    pin.schema_path(options.schema).write_bytes(reduced)
    pin.overlay_path(options.schema).write_text(OVERLAY)
    _insert(path, pin)
    print(f"added schema/{pin.name}; what is left to do is in schema/README.md")
    return 0


def _reduction(published: bytes, options: argparse.Namespace) -> bytes:
    facts = reduce.reduce(parse_json(published, options.source), options.source)
    if not REVISION.fullmatch(options.name):
        core = next(pin for pin in reversed(read_pins(options.schema)) if pin.is_revision)
        facts = reduce.share(facts, read_json(core.schema_path(options.schema)), f"{core.name}.json")
    return reduce.dump(facts)


def _insert(path: Path, pin: Pin) -> None:
    """Write the pin behind the revisions, before the extensions."""
    text = path.read_text()
    later = [known.name for known in read_pins(path.parent) if not known.is_revision or known.name > pin.name]
    at = text.index(f'["{later[0]}"]') if later else len(text)
    path.write_text(text[:at] + pin_text(pin) + "\n" + text[at:])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.codegen", description=__doc__)
    parser.add_argument("--schema", type=Path, default=SCHEMA, help="the inputs (default: schema/)")
    commands = parser.add_subparsers(required=True)
    generate_ = commands.add_parser("generate", help="write the wire package, or --check it")
    generate_.add_argument("--check", action="store_true", help="write nothing; print a diff and fail on drift")
    generate_.add_argument("--out", type=Path, default=GENERATED, help="where the package lies (default: generated/)")
    generate_.set_defaults(command=run_generate)
    for name, command, help_ in (
        ("reduce", run_reduce, "repeat the reduction of a pinned published schema"),
        ("add", run_add, "reduce a published schema and pin it as a new revision"),
    ):
        sub = commands.add_parser(name, help=help_)
        sub.add_argument("source", metavar="PATH_OR_URL")
        sub.add_argument("name", metavar="REVISION")
        sub.set_defaults(command=command)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())

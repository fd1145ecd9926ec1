"""``schema/`` → ``generated/syncline_wire``: the whole package as bytes, written or compared."""

from __future__ import annotations

import ast
import difflib
import hashlib
import json
import shutil
from importlib.metadata import version
from pathlib import Path
from typing import Any

from . import document, methods, normalize, overlay, render
from .inputs import JsonObject, parse_json, read_bytes, read_toml, shown
from .pins import Pin, read_pins, verify
from .problems import Problem

GENERATOR = "datamodel-code-generator"
PACKAGE = "syncline_wire"
#: Results with helpers of their own, in every revision.
HELPED: dict[str, str] = {"CallToolResult": "ToolResult", "ReadResourceResult": "ReadResult"}

#: What ``base`` adds to the names that users see.
NEUTRAL: tuple[str, ...] = ("UnknownContent", "WireModel")

OPTIONS: dict[str, Any] = {
    "input_file_type": "jsonschema",
    "schema_version": "2020-12",
    "output_model_type": "pydantic_v2.BaseModel",
    "target_python_version": "3.10",
    "base_class": f"{PACKAGE}.base.WireModel",
    "snake_case_field": True,
    "remove_special_field_name_prefix": True,
    "use_annotated": True,
    "field_constraints": True,
    "use_schema_description": True,
    "use_field_description": True,
    "use_single_line_docstring": True,
    "enum_field_as_literal": "all",
    "use_one_literal_as_default": True,
    "apply_default_values_for_required_fields": True,
    "use_union_operator": True,
    "use_double_quotes": True,
    "use_type_alias": True,
    "skip_root_model": True,
    "keep_model_order": True,
    "strict_refs": True,
    "disable_timestamp": True,
    "type_mappings": ["byte=string", "uri=string", "uri-template=string"],
    "type_overrides": {"JSONValue": "pydantic.JsonValue"},
    "field_extra_keys": [normalize.NULLABLE],
    "formatters": ["builtin"],
}


def build(schema: Path) -> dict[str, str]:
    """File name → text of every file of the package, from the inputs in ``schema`` alone.

    Raises:
        Problem: An input is wrong.
    """
    pins = read_pins(schema)
    names, docs, defaults = (read_toml(schema / f"{name}.toml") for name in ("names", "docs", "defaults"))
    modules = {pin.name: _definitions(pin, pins, schema, names["hoisted"], defaults) for pin in pins}
    for stale in document.stale(docs, [module["$defs"] for module in modules.values()]):
        raise Problem(shown(schema / "docs.toml"), stale, "describes nothing that any revision has")
    files = {"__init__.py": render.init(pins), "base.py": render.base(), "py.typed": ""}
    tables = {}
    for pin in pins:
        path = shown(pin.schema_path(schema)).as_posix()
        module = modules[pin.name]
        tables[pin.name] = methods.method_table(module["$defs"], path)
        described = document.document(module["$defs"], docs, pin, path)
        files[f"{pin.module}.py"] = models(module | {"$defs": described}, path, names["members"], pins)
    files["neutral.py"] = render.neutral(homes(pins, files))
    files["methods.py"] = render.methods(tables)
    files["provenance.py"] = render.provenance(
        {pin.name: _source(pin, schema) for pin in pins}, f"{GENERATOR} {version(GENERATOR)}", _digest(OPTIONS)
    )
    return dict(sorted(files.items()))


def homes(pins: list[Pin], files: dict[str, str]) -> dict[str, str]:
    """Name → module of the newest revision that has it, for the set that users see."""
    found: dict[str, str] = dict.fromkeys(NEUTRAL, "base")
    for pin in pins:
        if pin.is_revision:
            found |= dict.fromkeys(exported(files[f"{pin.module}.py"]), pin.module)
    return found


def exported(text: str) -> list[str]:
    """The classes and type aliases of a module of models."""
    body = ast.parse(text).body
    aliases = [node.targets[0] for node in body if isinstance(node, ast.Assign)]
    return [node.name for node in body if isinstance(node, ast.ClassDef)] + [
        target.id for target in aliases if isinstance(target, ast.Name)
    ]


def models(module: JsonObject, source: str, members: dict[str, str], pins: list[Pin]) -> str:
    """The text of one module of models."""
    from datamodel_code_generator import generate
    from datamodel_code_generator.config import GenerateConfig

    config = GenerateConfig(
        **OPTIONS,
        aliases=members,
        base_class_map=base_classes(module["$defs"]) or None,
        custom_file_header=render.header(source) + "\n# ruff: noqa\n",
        external_ref_mapping={f"{pin.name}.json": f"{PACKAGE}.{pin.module}" for pin in pins},
    )
    text = generate(json.dumps(module), config=config)
    if not isinstance(text, str):
        raise Problem(source, "", "the generator made no single module of it")
    return text


def base_classes(definitions: JsonObject) -> dict[str, str | list[str]]:
    """Definition → base class, for those that need another than ``WireModel``."""
    return {name: f"{PACKAGE}.base.{base}" for name, base in HELPED.items() if name in definitions}


def write(files: dict[str, str], out: Path) -> None:
    """Replace the package below ``out``."""
    package = out / PACKAGE
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    for name, text in files.items():
        (package / name).write_text(text, encoding="utf-8", newline="\n")


def drift(files: dict[str, str], out: Path) -> str:
    """A unified diff from what lies below ``out`` to what it should be; empty where they agree."""
    package = out / PACKAGE
    found = {path.name: path.read_text(encoding="utf-8") for path in sorted(package.glob("*")) if path.is_file()}
    lines: list[str] = []
    for name in sorted(found.keys() | files.keys()):
        old, new = (texts.get(name, "").splitlines(keepends=True) for texts in (found, files))
        lines += difflib.unified_diff(old, new, f"generated/{PACKAGE}/{name}", f"from the schema/{name}")
        if (name in found) != (name in files) and not (old or new):
            lines.append(f"generated/{PACKAGE}/{name}: {'missing' if name in files else 'not expected'}\n")
    return "".join(lines)


def _definitions(pin: Pin, pins: list[Pin], schema: Path, names: dict[str, str], defaults: JsonObject) -> JsonObject:
    """A module's normalised definitions, below ``$defs``."""
    path = pin.schema_path(schema)
    data = read_bytes(path)
    verify(data, pin.reduced, shown(path), "schema/pins.toml")
    facts = parse_json(data, shown(path))
    if not isinstance(facts.get("$defs"), dict):
        raise Problem(shown(path), "", "not a JSON schema: it has no $defs")
    fixes = pin.overlay_path(schema)
    patches = read_toml(fixes).get("patch", []) if fixes.exists() or pin.is_revision else []
    cores = [core for core in pins if core.is_revision and not pin.is_revision]
    shared = {name: node for core in cores for name, node in _shared(core, schema).items()}
    return normalize.normalize(
        overlay.apply(facts, patches, shown(fixes)),
        names=names,
        absent=defaults["absent"],
        shared=shared,
        file=shown(path).as_posix(),
    )


def _shared(core: Pin, schema: Path) -> dict[str, JsonObject]:
    """What an extension can refer to in a core revision: ``file#/$defs/Name`` → definition."""
    file = f"{core.name}.json"
    text = read_bytes(core.schema_path(schema)).decode().replace(f'"{normalize.LOCAL}', f'"{file}{normalize.LOCAL}')
    return {f"{file}{normalize.LOCAL}{name}": node for name, node in json.loads(text)["$defs"].items()}


def _source(pin: Pin, schema: Path) -> dict[str, str]:
    known = {key: getattr(pin, key) for key in ("repository", "commit", "path", "sha256")}
    inputs = [path for path in (pin.schema_path(schema), pin.overlay_path(schema)) if path.exists()]
    digest = hashlib.sha256(b"".join(read_bytes(path) for path in inputs)).hexdigest()
    return {key: value for key, value in known.items() if value} | {"inputs": digest}


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()

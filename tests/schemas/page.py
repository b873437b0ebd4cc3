#!/usr/bin/env python3
"""Makes docs/schemas.md from the descriptions in docs/schemas.
usage: tests/schemas/page.py --write"""

import pathlib
import sys

import schemas

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "schemas.md"
HEAD = """# Documents: every member of what fstune prints as JSON

`tests/schemas/page.py` makes this page from the schemas in [schemas/](schemas) (JSON Schema, draft 2020-12), which are installed beside it. The member
`schema` of a document names the file: `fstune/recommendation/1` is `schemas/recommendation-1.json`. What documents share stands in
[common](#common). A validator that finds `common.json` beside the schema needs nothing else:

```
fstune recommend --pattern randread --json >answer.json
check-jsonschema --schemafile docs/schemas/recommendation-1.json answer.json
```

## What is promised

- While the number at the end of a schema's name is the same, no member is renamed or removed, and none changes its type, its unit or its meaning.
- Members are added. A program that reads documents ignores what it does not know; the schemas of one version of fstune allow only what that version prints,
  so that a validator shows what is new.
- A member without a question mark is always there, `null` where the type says so and nothing is known. One with a question mark stands only where the text says.
- Lists of words (`enum`) may get more words in a later version, where these describe something new.
- Numbers are finite, and a number without a unit in its name or its text is a count or a ratio. Sentences are for people: their words may change.
- A document that would break this gets the next number, and its own schema beside the old one.

Tests hold it: every kind of output is validated, whether it ended, was interrupted or was refused; each member was seen; figures that belong together
are compared; and what once was promised is kept in a list that only grows.
"""


def link(name):
    return f"[{name}](#{name})"


def words(schema):
    """The type of a member, with links to shared parts."""
    kind = schemas.kind(schema)
    reference = schema.get("$ref") or schema.get("items", {}).get("$ref")
    name = (reference or "").rpartition("/")[2]
    return kind.replace(name, link(name)) if name and reference else kind


def cell(text):
    return text.replace("|", "\\|")


def is_list(schema):
    """Also one that may be null."""
    return schema.get("type") in ("array", ["array", "null"])


def rows(schema, prefix=""):
    """Lines of the table: members, and those of members that have no name of their own."""
    required = schema.get("required", [])
    for key, part in schema.get("properties", {}).items():
        inner = part["items"] if is_list(part) else part
        mark = "" if key in required else "?"
        yield f"| `{prefix}{key}`{mark} | {cell(words(part))} | {cell(part['description'])} |"
        dots = "[]." if is_list(part) else "."
        if "$ref" in inner and "properties" in inner:
            yield f"| `{prefix}{key}{dots}…` | {link(inner['$ref'].rpartition('/')[2])} | Its members. |"
        yield from rows(inner, f"{prefix}{key}{dots}")


def table(schema):
    lines = list(rows(schema))
    base = schema.get("$ref")
    if base:
        lines.insert(0, f"| … | {link(base.rpartition('/')[2])} | Its members. |")
    return ["", "| member | type | is |", "| --- | --- | --- |", *lines, ""] if lines else [""]


def section(title, schema, level):
    yield f"{'#' * level} {title}"
    yield ""
    yield schema["description"]
    if schema.get("type") == "array":
        yield from table(schema["items"])
    elif "properties" in schema or "$ref" in schema:
        yield from table(schema)
    elif "oneOf" not in schema:
        yield ""
        yield f"Type: {words(schema)}."
        yield ""
    for form in schema.get("oneOf", []):
        yield ""
        yield f"*{form['title']}*: {form['description']}"
        yield from table(form)
    for name, part in schema.get("$defs", {}).items():
        yield from section(name, part, level + 1)


def make(all_schemas):
    lines = [HEAD]
    names = [name for name in all_schemas.files if name != "common.json"]
    lines.append("\n".join(f"- [{all_schemas.files[n]['title']}](#{all_schemas.files[n]['title'].replace('/', '')}): {all_schemas.files[n]['description']}" for n in names))
    lines.append("")
    for name in [*names, "common.json"]:
        schema = all_schemas.files[name]
        lines += section(schema["title"], schema, 2)
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    PAGE.write_text(make(schemas.Schemas()))

"""The schemas of docs/schemas: loading, validation, and a walk of a document together with its schema."""

import json
import pathlib
import warnings

import jsonschema

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "docs" / "schemas"
# The library joins references only where the scheme is known to have paths.
BASE = "http://localhost/"


def load(folder=FOLDER):
    return {path.name: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}


class Schemas:
    def __init__(self, files=None):
        self.files = load() if files is None else files
        self.documents = {schema["title"]: name for name, schema in self.files.items() if "$defs" != name and name != "common.json"}
        self.validators = {}

    def validator(self, name):
        """Of a file. References are found among the files: older versions of the library know no registry."""
        if name not in self.validators:
            schema = {"$id": BASE + name, **self.files[name]}
            try:
                from referencing import Registry, Resource
                resources = [(BASE + n, Resource.from_contents(s)) for n, s in self.files.items()]
                self.validators[name] = jsonschema.Draft202012Validator(schema, registry=Registry().with_resources(resources))
            except ImportError:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    store = {BASE + n: s for n, s in self.files.items()}
                    resolver = jsonschema.RefResolver(BASE + name, schema, store=store)
                self.validators[name] = jsonschema.Draft202012Validator(schema, resolver=resolver)
        return self.validators[name]

    def errors(self, document):
        """Lines that say what is wrong with a document; none where it is valid."""
        title = document.get("schema") if isinstance(document, dict) else None
        if title not in self.documents:
            return [f"there is no schema {title!r}"]
        found = self.validator(self.documents[title]).iter_errors(document)
        return [f"/{'/'.join(map(str, e.absolute_path))}: {e.message[:300]}" for e in found]

    def target(self, name, reference):
        """The file and the part of it that a reference of the file `name` names."""
        file, _, pointer = reference.partition("#")
        name = file or name
        part = self.files[name]
        for word in pointer.split("/")[1:]:
            part = part[word]
        return name, part

    def members(self, name, schema):
        """Properties of an object and of what it extends: name -> (file, schema, required)."""
        found = {}
        if "$ref" in schema:
            found.update(self.members(*self.target(name, schema["$ref"])))
        required = schema.get("required", [])
        found.update({key: (name, part, key in required) for key, part in schema.get("properties", {}).items()})
        return found

    def branches(self, schema):
        return schema.get("anyOf") or schema.get("oneOf") or []

    def fits(self, name, schema, value):
        """Whether a value is of the kind that a branch describes: by null, by its names, else by its kind alone."""
        if schema.get("type") == "null":
            return value is None
        if value is None:
            return False
        members = self.members(name, schema) if isinstance(value, dict) else {}
        constants = [(k, part["const"]) for k, (_, part, _) in members.items() if "const" in part]
        if isinstance(value, dict) and any(required and key not in value for key, (_, _, required) in members.items()):
            return False
        return (not isinstance(value, dict) or set(value) <= set(members)) and all(value[k] == c for k, c in constants if k in value)

    def walk(self, name, schema, value, visit, path=""):
        """Calls visit(path of the schema, value) for each part of a valid document."""
        where = f"{name}#{path}"
        if "$ref" in schema:
            file, part = self.target(name, schema["$ref"])
            pointer = schema["$ref"].partition("#")[2]
            self.walk(file, part, value, visit, pointer)
        for i, branch in enumerate(self.branches(schema)):
            if self.fits(name, branch, value):
                key = "anyOf" if "anyOf" in schema else "oneOf"
                self.walk(name, branch, value, visit, f"{path}/{key}/{i}")
                break
        visit(where, value)
        if isinstance(value, dict):
            for key, part in schema.get("properties", {}).items():
                if key in value:
                    self.walk(name, part, value[key], visit, f"{path}/properties/{key}")
        if isinstance(value, list) and "items" in schema:
            for item in value:
                self.walk(name, schema["items"], item, visit, f"{path}/items")

    def properties(self, name, schema=None, path=""):
        """(path, schema, required) of every property that a file defines itself."""
        schema = self.files[name] if schema is None else schema
        for key, part in schema.get("properties", {}).items():
            yield f"{path}/properties/{key}", part, key in schema.get("required", [])
            yield from self.properties(name, part, f"{path}/properties/{key}")
        for key, part in schema.get("$defs", {}).items():
            yield from self.properties(name, part, f"{path}/$defs/{key}")
        for word in ("anyOf", "oneOf"):
            for i, part in enumerate(schema.get(word, [])):
                yield from self.properties(name, part, f"{path}/{word}/{i}")
        if "items" in schema:
            yield from self.properties(name, schema["items"], f"{path}/items")


def kind(schema):
    """The type of a property in few words, as the page and the list of promises say it."""
    if "$ref" in schema:
        return schema["$ref"].partition("#")[2].rpartition("/")[2] or schema["$ref"].replace("-1.json", "")
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return ", ".join("null" if v is None else str(v) for v in schema["enum"])
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return " or ".join(kind(part) for part in schema[word])
    types = schema.get("type", "anything")
    types = [types] if isinstance(types, str) else types
    if types == ["array"]:
        return f"list of {kind(schema['items'])}"
    return " or ".join(types)

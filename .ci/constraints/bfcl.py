"""Writes the tool schemas of the installed bfcl-eval data, one array of tools a line, each once.

    bfcl.py > TOOLS.jsonl
"""

import importlib.util
import json
import pathlib


def main():
    data = pathlib.Path(importlib.util.find_spec("bfcl_eval").origin).parent / "data"
    seen = set()
    for file in sorted(data.rglob("*.json")):
        for row in open(file, encoding="utf-8"):
            try:
                entry = json.loads(row)
            except json.JSONDecodeError:
                break  # not lines of JSON
            functions = entry.get("function") if isinstance(entry, dict) else None
            if functions is None and isinstance(entry, dict) and "parameters" in entry and "name" in entry:
                functions = [entry]
            if isinstance(functions, dict):
                functions = [functions]
            tools, names = [], set()
            for function in functions or []:
                if isinstance(function, dict) and function.get("name") not in names:
                    names.add(function.get("name"))
                    tools.append({"type": "function", "function": {"name": function["name"], "strict": True, "parameters": function.get("parameters")}})
            line = json.dumps(tools, ensure_ascii=False)
            if tools and line not in seen:
                seen.add(line)
                print(line)


main()

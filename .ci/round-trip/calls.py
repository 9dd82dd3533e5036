"""Writes the ground-truth calls of BFCL as JSON lines: {"id", "tools", "calls": [{"name", "arguments"}], "python": [...]}.

The first argument is the data folder of the installed bfcl-eval package. Structured calls list possible values; the
first one that is not the empty string (which stands for "left out") is taken. Multi-turn calls are Python source; they
are read with Python's own parser, so that nothing of Parlance has a part in the answer. An argument given by position
gets its name from the tool's documentation.
"""

import ast
import json
import pathlib
import sys

data = pathlib.Path(sys.argv[1])


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def possible(values):
    """The first possible value, as a list of none or one."""
    if not isinstance(values, list):
        return [values]
    return [value for value in values if value != ""][:1]


def value_of(value):
    if isinstance(value, dict):
        return {key: value_of(chosen) for key, values in value.items() for chosen in possible(values)}
    if isinstance(value, list):
        return [value_of(element) for element in value]
    return value


def tools_of(functions):
    return [{"type": "function", "function": {key: f[key] for key in ("name", "description", "parameters") if key in f}} for f in functions]


def write(**record):
    print(json.dumps(record, ensure_ascii=False))


def call(name, arguments):
    return {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}


def structured(path):
    functions = {question["id"]: question["function"] for question in lines(data / path.name)}
    for answer in lines(path):
        calls = []
        for one in answer["ground_truth"]:
            for name, arguments in one.items():
                calls.append(call(name, {key: value_of(chosen) for key, values in arguments.items() for chosen in possible(values)}))
        write(id=answer["id"], tools=tools_of(functions[answer["id"]]), calls=calls)


def multi_turn(path, functions, classes):
    positions = {f["name"]: list(f["parameters"]["properties"]) for f in functions}
    involved = {question["id"]: question["involved_classes"] for question in lines(data / path.name)}
    for answer in lines(path):
        tools = tools_of([f for name in involved[answer["id"]] for f in classes[name]])
        for turn, texts in enumerate(answer["ground_truth"]):
            for number, text in enumerate(texts):
                tree = ast.parse(text.strip(), mode="eval").body
                name = ast.unparse(tree.func)
                arguments = dict(zip(positions[name], map(ast.literal_eval, tree.args)))
                arguments |= {keyword.arg: ast.literal_eval(keyword.value) for keyword in tree.keywords}
                write(id=f"{answer['id']}.{turn}.{number}", tools=tools, calls=[call(name, arguments)], python=[text.strip()], positional=len(tree.args))


classes = {}
for file, name in {
    "gorilla_file_system": "GorillaFileSystem", "math_api": "MathAPI", "message_api": "MessageAPI", "posting_api": "TwitterAPI",
    "ticket_api": "TicketAPI", "trading_bot": "TradingBot", "travel_booking": "TravelAPI", "vehicle_control": "VehicleControlAPI",
}.items():
    classes[name] = lines(data / "multi_turn_func_doc" / f"{file}.json")
functions = [f for documented in classes.values() for f in documented]

for path in sorted((data / "possible_answer").glob("*.json")):
    if "multi_turn" in path.name:
        multi_turn(path, functions, classes)
    elif not any(word in path.name for word in ("memory", "web_search")):
        structured(path)

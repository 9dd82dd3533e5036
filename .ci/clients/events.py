"""Every event of a stream against the types that the official clients publish, as strict as those are.

Usage: events.py URL

The frames are read by hand, since the clients build their objects without validating them. An event must be of exactly the
class that its type names, with every field that the class requires and nothing that it does not know, all the way down; the
numbers, indexes and ids must fit together. So that this check can be believed, every event is shown once without each of
its required fields, which must fail.
"""

import json
import sys
import typing
import urllib.request

import anthropic.types
import openai.types.responses
import pydantic

url = sys.argv[1]
failures = 0


def fail(name, *what):
    global failures
    failures += 1
    print("events:", name + ":", *what)


def classes(union):
    """The classes of a union of events by their type."""
    members = typing.get_args(typing.get_args(union)[0])
    return {value: c for c in members for value in typing.get_args(c.model_fields["type"].annotation)}


responses = classes(openai.types.responses.ResponseStreamEvent)
messages = classes(anthropic.types.RawMessageStreamEvent)
# The client reads these two by their names alone and publishes no class in the union.
messages["ping"] = pydantic.create_model("Ping", __config__=pydantic.ConfigDict(extra="forbid"), type=typing.Literal["ping"])
messages["error"] = pydantic.create_model(
    "Error",
    __config__=pydantic.ConfigDict(extra="forbid"),
    type=typing.Literal["error"],
    error=(anthropic.types.ErrorObject, ...),
)

# What the classes lack: the service's own answers have the first three, and the last is in its reference of the event.
known = {("Response", "store"), ("ResponseCustomToolCall", "status"), ("ResponseFunctionCallArgumentsDoneEvent", "name")}


def unknown(value, path=""):
    """The fields that no class knows."""
    if isinstance(value, pydantic.BaseModel):
        for name in value.model_extra or {}:
            if (type(value).__name__, name) not in known:
                yield path + "." + name
        for name in value.model_fields_set & set(type(value).model_fields):
            yield from unknown(getattr(value, name), path + "." + name)
    elif isinstance(value, list):
        for i, entry in enumerate(value):
            yield from unknown(entry, f"{path}.{i}")


shown = set()


def validate(name, found, data):
    event = json.loads(data)
    c = found.get(event.get("type"))
    if c is None:
        return fail(name, "no class for", data)
    try:
        read = c.model_validate_json(data, strict=True)
    except pydantic.ValidationError as error:
        return fail(name, error, data)
    for path in unknown(read):
        fail(name, c.__name__, "does not know", path)
    if c not in shown:
        shown.add(c)
        for field, info in c.model_fields.items():
            if info.is_required():
                less = {k: v for k, v in event.items() if k != (info.alias or field)}
                try:
                    c.model_validate_json(json.dumps(less), strict=True)
                    fail(name, c.__name__, "passes without", field)
                except pydantic.ValidationError:
                    pass
    return event


def call(method, path, body=None):
    request = urllib.request.Request(url + path, method=method, data=json.dumps(body).encode() if body else None)
    request.add_header("Content-Type", "application/json")
    return urllib.request.urlopen(request, timeout=60)


def frames(answer):
    for frame in answer.read().decode().split("\n\n"):
        lines = [line for line in frame.split("\n") if line and not line.startswith(":")]
        if lines:
            assert len(lines) == 2 and lines[0].startswith("event: ") and lines[1].startswith("data: "), frame
            yield lines[0][len("event: "):], lines[1][len("data: "):]


def response_stream(name, answer, begin=0):
    """The events of a stream of the Responses interface, held together: one response, numbers without gaps, items that are
    added, told of and done one after the other, and the same at the end as while they came."""
    events = []
    for event_name, data in frames(answer):
        event = validate(name, responses, data)
        if event is None:
            continue
        if event["type"] != event_name:
            fail(name, event_name, "is the name of", data)
        events.append(event)
    numbers = [event["sequence_number"] for event in events]
    if numbers != list(range(begin, begin + len(events))):
        fail(name, "numbers", numbers)
    if len({event["response"]["id"] for event in events if "response" in event}) > 1:
        fail(name, "several response ids")
    open_item, done = None, []
    texts, parts = {}, {}
    for event in events if begin == 0 else []:
        kind, item = event["type"], event.get("item")
        if kind == "response.output_item.added":
            if open_item is not None or event["output_index"] != len(done):
                fail(name, "added out of turn", event)
            open_item = item
        elif kind == "response.output_item.done":
            if open_item is None or (item["id"], item["type"], event["output_index"]) != (open_item["id"], open_item["type"], len(done)):
                fail(name, "done out of turn", event)
            said = item.get("arguments", item.get("input", "".join(p["text"] for p in item.get("content") or [])))
            if said != texts.get(item["id"], ""):
                fail(name, "the deltas say", texts.get(item["id"]), "the item", said)
            done.append(item)
            open_item = None
        elif "item_id" in event:
            if open_item is None or event["item_id"] != open_item["id"] or event["output_index"] != len(done):
                fail(name, "an event of an item that is not open", event)
            if kind.endswith(".delta"):
                texts[event["item_id"]] = texts.get(event["item_id"], "") + event["delta"]
            elif kind == "response.content_part.added":
                parts[event["item_id"]] = True
            elif kind.endswith("_text.done") and event["text"] != texts[event["item_id"]]:
                fail(name, "the text is not that of the deltas", event)
    last = events[-1]
    if begin == 0 and last["type"] in ("response.completed", "response.incomplete") and last["response"]["output"] != done:
        fail(name, "the end holds", last["response"]["output"], "and was told", done)
    if open_item is not None and last["type"] == "response.completed":
        fail(name, "an item is open at the end")
    return events


def message_stream(name, answer):
    """The events of a stream of the Messages interface, held together: blocks one after the other."""
    events = []
    for event_name, data in frames(answer):
        event = validate(name, messages, data)
        if event is None:
            continue
        if event["type"] != event_name:
            fail(name, event_name, "is the name of", data)
        events.append(event)
    open_block, next_block = False, 0
    for i, event in enumerate(events):
        kind = event["type"]
        if (kind == "message_start") != (i == 0):
            fail(name, kind, "at", i)
        if kind == "content_block_start":
            if open_block or event["index"] != next_block:
                fail(name, "a block starts out of turn", event)
            open_block, next_block = True, next_block + 1
        elif kind.startswith("content_block"):
            if not open_block or event["index"] != next_block - 1:
                fail(name, "not the open block", event)
            open_block = kind == "content_block_delta"
    if open_block:
        fail(name, "a block is open at the end")
    return events


def kinds(events, key="type"):
    """The types of events, each once in a row."""
    out = []
    for event in events:
        if not out or out[-1] != event[key]:
            out.append(event[key])
    return [kind.removeprefix("response.") for kind in out]


def check(name, found, want):
    if found != want:
        fail(name, "expected", want, "found", found)


weather = {
    "name": "get_weather",
    "description": "The weather in a city",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city", "days"],
        "additionalProperties": False,
    },
}
function = {"type": "function", "strict": True, **weather}
patch = {"type": "custom", "name": "apply_patch", "description": "Edits files", "format": {"type": "text"}}
inner = {"type": "namespace", "name": "weather", "description": "Of the weather", "tools": [function]}

begin = ["created", "in_progress"]
thought = ["output_item.added", "content_part.added", "reasoning_text.delta", "reasoning_text.done", "content_part.done", "output_item.done"]
said = ["output_item.added", "content_part.added", "output_text.delta", "output_text.done", "content_part.done", "output_item.done"]
called = ["output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done"]
custom = ["output_item.added", "custom_tool_call_input.delta", "custom_tool_call_input.done", "output_item.done"]

for ask, more, want in [
    ("think it over", {}, begin + thought + said + ["completed"]),
    ("think it over", {"include": ["reasoning.encrypted_content"], "store": False, "metadata": {"a": "b"}, "instructions": "Be short.",
                       "text": {"format": {"type": "text"}, "verbosity": "low"}, "reasoning": {"effort": "low", "summary": "auto"},
                       "temperature": 0.5, "top_p": 0.9, "max_output_tokens": 500, "user": "u", "truncation": "auto", "safety_identifier": "s",
                       "prompt_cache_key": "k", "max_tool_calls": 3, "service_tier": "auto"}, begin + thought + said + ["completed"]),
    ("one call", {"tools": [function]}, begin + thought + called + ["completed"]),
    ("two calls", {"tools": [function]}, begin + thought + said + called + called + ["completed"]),
    ("one call", {"tools": [function], "tool_choice": {"type": "function", "name": "get_weather"}}, begin + thought + called + ["completed"]),
    ("one call", {"tools": [function, patch], "tool_choice": {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "get_weather"}]}},
     begin + thought + called + ["completed"]),
    ("write a patch", {"tools": [patch, function]}, begin + custom + ["completed"]),
    ("write a patch", {"tools": [patch], "tool_choice": {"type": "custom", "name": "apply_patch"}}, begin + custom + ["completed"]),
    ("cut it off", {"tools": [function]}, begin + called + ["incomplete"]),
    ("say nothing", {}, begin + ["completed"]),
    ("break down", {}, begin + ["output_item.added", "content_part.added", "output_text.delta", "error", "failed"]),
]:
    name = f"Responses, {ask}, {', '.join(more) or 'plain'}"
    body = {"model": "scripted", "input": ask, "stream": True, **more}
    check(name, kinds(response_stream(name, call("POST", "/v1/responses", body))), want)
    if ask == "break down":
        continue
    whole = json.load(call("POST", "/v1/responses", {**body, "stream": False}))
    try:
        openai.types.responses.Response.model_validate_json(json.dumps(whole), strict=True)
    except pydantic.ValidationError as error:
        fail(name, "whole", error)

name = "Responses, namespace"
events = response_stream(name, call("POST", "/v1/responses", {"model": "scripted", "input": "one call", "stream": True, "tools": [inner]}))
check(name, kinds(events), begin + thought + called + ["completed"])

name = "Responses, background"
body = {"model": "scripted", "input": "take your time", "background": True}
want = ["created", "queued", "in_progress"] + said + ["completed"]
events = response_stream(name, call("POST", "/v1/responses", {**body, "stream": True}))
check(name, kinds(events), want)
created = json.load(call("POST", "/v1/responses", body))
openai.types.responses.Response.model_validate_json(json.dumps(created), strict=True)
path = "/v1/responses/" + created["id"]
check(name + ", followed", kinds(response_stream(name, call("GET", path + "?stream=true"))), want)
all_events = response_stream(name, call("GET", path + "?stream=true"))
check(name + ", again when it is over", kinds(all_events), want)
rest = response_stream(name, call("GET", path + "?stream=true&starting_after=6"), begin=7)
check(name + ", behind a number", rest, all_events[7:])
check(name + ", read back", json.load(call("GET", path)), all_events[-1]["response"])

name = "Responses, background that breaks down"
events = response_stream(name, call("POST", "/v1/responses", {"model": "scripted", "input": "break down", "background": True, "stream": True}))
check(name, kinds(events)[-1], "failed")

name = "Responses, cancelled"
created = json.load(call("POST", "/v1/responses", {"model": "scripted", "input": "take all day", "background": True}))
path = "/v1/responses/" + created["id"]
follower = call("GET", path + "?stream=true")
check(name, json.load(call("POST", path + "/cancel"))["status"], "cancelled")
events = response_stream(name, follower)
check(name + ", its stream", events[-1]["response"]["status"], "cancelled")

tool = {"name": weather["name"], "description": weather["description"], "input_schema": weather["parameters"]}
block = ["content_block_start", "content_block_delta", "content_block_stop"]
start, end = ["message_start", "ping"], ["message_delta", "message_stop"]
for ask, more, want in [
    ("think it over", {}, start + block + block + end),
    ("think it over", {"thinking": {"type": "enabled", "budget_tokens": 1024}, "system": [{"type": "text", "text": "Be short."}], "metadata": {"user_id": "u"}},
     start + block + block + end),
    ("stop there", {"stop_sequences": [" three"]}, start + block + block + end),
    ("one call", {"tools": [tool]}, start + block + block + end),
    ("two calls", {"tools": [tool]}, start + block * 4 + end),
    ("two calls", {"tools": [tool], "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}, start + block * 3 + end),
    ("one call", {"tools": [tool], "tool_choice": {"type": "tool", "name": "get_weather"}}, start + block + block + end),
    ("cut it off", {"tools": [tool]}, start + block + end),
    ("say nothing", {}, start + ["content_block_start", "content_block_stop"] + end),
    ("break down", {}, start + block + ["error"]),
]:
    name = f"Messages, {ask}, {', '.join(more) or 'plain'}"
    body = {"model": "scripted", "max_tokens": 2000, "messages": [{"role": "user", "content": ask}], "stream": True, **more}
    check(name, kinds(message_stream(name, call("POST", "/v1/messages", body))), want)
    if ask == "break down":
        continue
    whole = call("POST", "/v1/messages", {**body, "stream": False}).read().decode()
    try:
        for path in unknown(anthropic.types.Message.model_validate_json(whole, strict=True)):
            fail(name, "whole: Message does not know", path)
    except pydantic.ValidationError as error:
        fail(name, "whole", error)

print("events:", f"{failures} failed" if failures else f"all as published, of {len(shown)} classes")
sys.exit(failures > 0)

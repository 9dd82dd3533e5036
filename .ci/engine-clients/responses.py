"""The openai Python client on the Responses interface, in front of a real engine: whole, the stream helper, parse, forced
calls, the background, and what is stored.

Usage: responses.py URL MODEL, with the address of the engine in PARLANCE_LLAMACPP_URL
"""

import json
import os
import sys
import time
import urllib.request

import openai

from checks import SEED, Checks, Weather, schema

client = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key="none", max_retries=0, timeout=600)
engine = os.environ["PARLANCE_LLAMACPP_URL"]
checks = Checks("responses")
model = sys.argv[2]
tool = {"type": "function", "name": "get_weather", "description": "The weather in a city", "parameters": schema, "strict": True}
patience = 300


def body(text, tokens, **more):
    return {"model": model, "input": text, "max_output_tokens": tokens, "temperature": 0, "extra_body": {"seed": SEED}, **more}


def said(response):
    """What the items of a response say, without their ids."""
    return [(i.type, i.status, i.content[0].text) if i.type == "message" else (i.type, i.status, i.name, getattr(i, "arguments", None) or getattr(i, "input", None)) for i in response.output]


def complete(what, response, calls=False):
    """What holds for every response that has come to its end."""
    reason = response.incomplete_details and response.incomplete_details.reason
    checks.that(what + ", status", (response.status, reason) in (("completed", None), ("incomplete", "max_output_tokens")), (response.status, reason))
    u = response.usage
    checks.that(what + ", usage", u and u.input_tokens > 0 and u.output_tokens > 0 and u.total_tokens == u.input_tokens + u.output_tokens, u)
    checks.that(what + ", items", response.output and all(i.id for i in response.output), response.output)
    if calls:
        checks.same(what + ", calls", [(i.type, i.name, i.status, bool(i.call_id)) for i in response.output], [("function_call", "get_weather", "completed", True)])
        checks.weather(what + ", arguments", response.output[0].arguments)


def helper(request):
    """Streams with the helper that accumulates; gives what it has accumulated, what the deltas said, and the last event."""
    text, arguments, last = "", "", None
    with client.responses.stream(**request) as stream:
        for event in stream:
            last = event
            if event.type == "response.output_text.delta":
                text += event.delta
            elif event.type == "response.function_call_arguments.delta":
                arguments += event.delta
    return last.response, text, arguments


# Text, whole and by the helper. The budget ends it, or the model does.
request = body("Count from one to five, in words.", 16, instructions="Answer briefly.", metadata={"a": "b"})
whole = client.responses.create(**request)
complete("text", whole)
checks.that("text, some", whole.output_text != "", whole.output)
checks.same("text, what was asked for", (whole.instructions, whole.metadata, whole.max_output_tokens), ("Answer briefly.", {"a": "b"}, 16))
final, text, _ = helper(request)
complete("text, streamed", final)
checks.same("text, deltas", text, final.output_text)
checks.same("text, whole as streamed", said(final), said(whole))
checks.same("text, read back", said(client.responses.retrieve(final.id)), said(final))

checks.same("text, counted", client.responses.input_tokens.count(model=model, input=request["input"], instructions=request["instructions"]).input_tokens, whole.usage.input_tokens)

# A budget that is certainly too small.
short = client.responses.create(**{**request, "max_output_tokens": 3})
checks.same("cut", (short.status, short.incomplete_details and short.incomplete_details.reason, short.output[-1].status, short.usage.output_tokens), ("incomplete", "max_output_tokens", "incomplete", 3))

# By a schema.
request = body("The weather in Oslo, for two days, as JSON.", 60)
parsed = client.responses.parse(**request, text_format=Weather)
checks.that("parse", isinstance(parsed.output_parsed, Weather), parsed.output_text)
with client.responses.stream(**request, text_format=Weather) as stream:
    checks.same("parse, streamed", stream.get_final_response().output_parsed, parsed.output_parsed)

# Forced calls.
allowed = {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "get_weather"}]}
other = {**tool, "name": "get_time"}
for what, choice, tools in [("required", "required", [tool]), ("named", {"type": "function", "name": "get_weather"}, [other, tool]), ("allowed", allowed, [other, tool])]:
    request = body("How is the weather in Paris?", 60, tools=tools, tool_choice=choice, parallel_tool_calls=False)
    whole = client.responses.create(**request)
    complete(what, whole, calls=True)
    final, _, arguments = helper(request)
    complete(what + ", streamed", final, calls=True)
    checks.same(what + ", deltas", arguments, final.output[0].arguments)
    checks.same(what + ", whole as streamed", said(final), said(whole))
parsed = client.responses.parse(**body("How is the weather in Paris?", 60, tools=[openai.pydantic_function_tool(Weather)["function"] | {"type": "function"}], tool_choice="required", parallel_tool_calls=False))
checks.weather("parse, a call", parsed.output[0].parsed_arguments if isinstance(parsed.output[0].parsed_arguments, dict) else parsed.output[0].parsed_arguments.model_dump())
patch = {"type": "custom", "name": "note", "description": "Writes a text down"}
custom = client.responses.create(**body("Write down: hello.", 40, tools=[patch], tool_choice={"type": "custom", "name": "note"}, parallel_tool_calls=False))
checks.same("a custom tool", [(i.type, i.name, type(i.input)) for i in custom.output], [("custom_tool_call", "note", str)])

# The second turn of a call, by its id and by the conversation it belongs to.
result = [{"type": "function_call_output", "call_id": whole.output[0].call_id, "output": "sunny"}]
second = client.responses.create(**{**body("", 16, tools=[tool], tool_choice="none", previous_response_id=whole.id), "input": result})
complete("second turn", second)
checks.that("second turn, it saw the first", second.usage.input_tokens > whole.usage.input_tokens and second.previous_response_id == whole.id, second)

# Log probabilities.
sure = client.responses.create(**body("Say a word.", 6, include=["message.output_text.logprobs"], top_logprobs=2))
part = sure.output[0].content[0]
checks.same("log probabilities", "".join(t.token for t in part.logprobs).strip(), part.text)

# In the background: polled to its end, and followed, left and gone on with.
request = body("Tell me of the sea.", 16, background=True)
one = client.responses.create(**request)
checks.same("background", one.status, "queued")
deadline = time.time() + patience
while one.status in ("queued", "in_progress") and time.time() < deadline:
    time.sleep(0.1)
    one = client.responses.retrieve(one.id)
complete("background, polled", one)
last = response_id = None
begun = ""
with client.responses.stream(**request) as stream:
    for event in stream:
        last = event.sequence_number
        if event.type == "response.created":
            response_id = event.response.id
        if event.type == "response.output_text.delta":
            begun += event.delta
            break
with client.responses.stream(response_id=response_id, starting_after=last) as stream:
    numbers, rest, end = [], "", None
    for event in stream:
        numbers.append(event.sequence_number)
        end = event
        if event.type == "response.output_text.delta":
            rest += event.delta
complete("background, gone on with", end.response)
checks.same("background, numbers", numbers, list(range(last + 1, last + 1 + len(numbers))))
checks.same("background, text of both streams", begun + rest, end.response.output_text)
checks.same("background, as polled", said(end.response), said(one))

# One that would go on for long is cancelled, and the engine goes no further with it.
long = client.responses.create(model=model, input="Tell me a long story.", max_output_tokens=1500, background=True, extra_body={"ignore_eos": True})


def busy():
    return any(slot["is_processing"] for slot in json.load(urllib.request.urlopen(engine + "/slots", timeout=60)))


while not busy() and time.time() < deadline:
    time.sleep(0.05)
checks.same("cancelled", client.responses.cancel(long.id).status, "cancelled")
while busy() and time.time() < deadline:
    time.sleep(0.1)
checks.that("cancelled, the engine is at rest", not busy())
checks.same("cancelled, read back", client.responses.retrieve(long.id).status, "cancelled")

checks.end("openai", openai.__version__)

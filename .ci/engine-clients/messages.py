"""The anthropic Python client on the Messages interface, in front of a real engine: whole, MessageStream, the accumulated
message, forced calls, counting.

Usage: messages.py URL MODEL
"""

import json
import sys

import anthropic

from checks import Checks, schema

client = anthropic.Anthropic(base_url=sys.argv[1], api_key="none", max_retries=0, timeout=600)
checks = Checks("messages")
model = sys.argv[2]
tool = {"name": "get_weather", "description": "The weather in a city", "input_schema": schema}


def body(text, tokens, **more):
    return {"model": model, "messages": [{"role": "user", "content": text}], "max_tokens": tokens, "extra_body": {"temperature": 0}, **more}


def blocks(message):
    return [(b.type, b.text) if b.type == "text" else (b.type, b.name, b.input) for b in message.content]


def helper(request):
    """Streams with MessageStream; gives the accumulated message, and what the events said."""
    text, partial, kinds = "", "", []
    with client.messages.stream(**request) as stream:
        for event in stream:
            kinds.append(event.type)
            if event.type == "text":
                text += event.text
            elif event.type == "input_json":
                partial += event.partial_json
        return stream.get_final_message(), text, partial, kinds


def both(what, request, reasons):
    """The answer, whole and streamed, and what holds for each."""
    whole = client.messages.create(**request)
    final, text, partial, kinds = helper(request)
    checks.same(what + ", whole as streamed", (blocks(final), final.stop_reason), (blocks(whole), whole.stop_reason))
    checks.same(what + ", begins and ends", (kinds[0], kinds[-1]), ("message_start", "message_stop"))
    checks.same(what + ", text", text, "".join(b.text for b in final.content if b.type == "text"))
    for one in (whole, final):
        checks.that(what + ", stop reason", one.stop_reason in reasons, one.stop_reason)
        checks.that(what + ", usage", one.usage.input_tokens > 0 and one.usage.output_tokens > 0, one.usage)
    checks.same(what + ", usage", final.usage.input_tokens, whole.usage.input_tokens)
    return whole, final, partial


request = body("Count from one to five, in words.", 16, system="Answer briefly.")
whole, _, _ = both("text", request, ("end_turn", "max_tokens"))
checks.same("text, blocks", [b.type for b in whole.content], ["text"])
counted = client.messages.count_tokens(model=model, messages=request["messages"], system=request["system"])
checks.same("count_tokens", counted.input_tokens, whole.usage.input_tokens)
short, _, _ = both("cut", {**request, "max_tokens": 3}, ("max_tokens",))
checks.same("cut, usage", short.usage.output_tokens, 3)
words = whole.content[0].text.split()
if len(words) > 2:  # a stop sequence is a word of what it says anyway
    stopped, _, _ = both("stop sequence", {**request, "stop_sequences": [words[1]]}, ("stop_sequence",))
    checks.same("stop sequence", stopped.stop_sequence, words[1])

for choice in ({"type": "any", "disable_parallel_tool_use": True}, {"type": "tool", "name": "get_weather", "disable_parallel_tool_use": True}):
    what = "forced, " + choice["type"]
    request = body("How is the weather in Paris?", 60, tools=[tool], tool_choice=choice)
    whole, final, partial = both(what, request, ("tool_use",))
    for one in (whole, final):
        checks.same(what, [(b.type, b.name, bool(b.id)) for b in one.content if b.type == "tool_use"], [("tool_use", "get_weather", True)])
        checks.weather(what + ", input", one.content[-1].input)
    checks.same(what + ", deltas", json.loads(partial), final.content[-1].input)
counted = client.messages.count_tokens(model=model, messages=request["messages"], tools=[tool])
checks.same("count_tokens, with tools", counted.input_tokens, whole.usage.input_tokens)

# A call that max_tokens certainly cuts off.
cut, _, _ = both("a cut call", {**request, "max_tokens": 20}, ("max_tokens",))
checks.that("a cut call", all(b.type == "tool_use" and b.name == "get_weather" for b in cut.content if b.type != "text"), cut.content)

# The second turn: the result of the call, which failed, and a question behind it.
result = {"type": "tool_result", "tool_use_id": whole.content[-1].id, "content": [{"type": "text", "text": "no network"}], "is_error": True}
turns = request["messages"] + [{"role": "assistant", "content": whole.content}, {"role": "user", "content": [result, {"type": "text", "text": "What now?"}]}]
second, _, _ = both("second turn", {**body("", 16, tools=[tool], tool_choice={"type": "none"}), "messages": turns}, ("end_turn", "max_tokens"))
checks.that("second turn, it saw the first", second.usage.input_tokens > whole.usage.input_tokens, second.usage)

parsed = client.messages.create(**body("The weather in Oslo, for two days, as JSON.", 60, output_config={"format": {"type": "json_schema", "schema": schema}}))
checks.weather("by a schema", parsed.content[0].text)

checks.end("anthropic", anthropic.__version__)

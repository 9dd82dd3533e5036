"""The anthropic Python client on the Messages interface: whole, MessageStream, the accumulated message, counting, errors.

Usage: messages.py URL
"""

import sys

import anthropic

url = sys.argv[1]
client = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0)
failures = 0


def check(name, found, want):
    global failures
    if found != want:
        failures += 1
        print(f"messages: {name}: expected {want}, found {found}")


def blocks(message):
    out = []
    for block in message.content:
        if block.type == "thinking":
            assert block.signature
            out.append(("thinks", block.thinking))
        elif block.type == "text":
            out.append(("says", block.text))
        else:
            assert block.id
            out.append(("calls", block.name, block.input))
    return out


schema = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city", "days"]}
tools = [{"name": "get_weather", "description": "The weather in a city", "input_schema": schema}]
paris, oslo = ("calls", "get_weather", {"city": "Paris", "days": 1}), ("calls", "get_weather", {"city": "Oslo", "days": 2})
sao = ("calls", "get_weather", {"city": 'São Paulo "SP"', "days": 3})
both = [("thinks", "Two."), ("says", "Both at once.")]
scenarios = [
    ("think it over", {}, [("thinks", "Easy enough."), ("says", "Hello, world.")], "end_turn"),
    ("stop there", {"stop_sequences": [" three"]}, [("thinks", "Count."), ("says", "one two")], "stop_sequence"),
    ("one call", {"tools": tools}, [("thinks", "One city."), sao], "tool_use"),
    ("one call", {"tools": tools, "tool_choice": {"type": "any"}}, [("thinks", "One city."), sao], "tool_use"),
    ("one call", {"tools": tools, "tool_choice": {"type": "tool", "name": "get_weather"}}, [("thinks", "One city."), sao], "tool_use"),
    ("two calls", {"tools": tools}, both + [paris, oslo], "tool_use"),
    ("two calls", {"tools": tools, "tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}, both + [paris], "tool_use"),
    ("say nothing", {}, [("says", "")], "end_turn"),
    ("plain JSON", {"output_config": {"format": {"type": "json_schema", "schema": schema}}}, [("says", '{"city": "Rome", "days": 4}')], "end_turn"),
]
for ask, more, want, reason in scenarios:
    name = f"{ask} {sorted(more)}"
    body = {"model": "scripted", "max_tokens": 1000, "messages": [{"role": "user", "content": ask}], **more}
    whole = client.messages.create(**body)
    check(name, (blocks(whole), whole.stop_reason), (want, reason))
    check(name + ", the stop sequence", whole.stop_sequence, " three" if reason == "stop_sequence" else None)
    text, thought, partial, kinds = "", "", "", []
    with client.messages.stream(**body) as stream:
        for event in stream:
            kinds.append(event.type)
            if event.type == "text":
                text += event.text
            elif event.type == "thinking":
                thought += event.thinking
            elif event.type == "input_json":
                partial += event.partial_json
        final = stream.get_final_message()
    check(name + ", accumulated", (blocks(final), final.stop_reason, final.stop_sequence), (want, reason, whole.stop_sequence))
    check(name + ", texts", (text, thought), ("".join(b[1] for b in want if b[0] == "says"), "".join(b[1] for b in want if b[0] == "thinks")))
    check(name + ", arguments came", partial != "", any(b[0] == "calls" for b in want))
    check(name + ", usage", (final.usage.input_tokens, final.usage.output_tokens), (whole.usage.input_tokens, whole.usage.output_tokens))
    check(name + ", begins and ends", (kinds[0], kinds[-1]), ("message_start", "message_stop"))

# A call that was cut off is a partial tool_use, whole as streamed.
body = {"model": "scripted", "max_tokens": 1000, "tools": tools, "messages": [{"role": "user", "content": "cut it off"}]}
whole = client.messages.create(**body)
check("cut", (blocks(whole), whole.stop_reason), ([("calls", "get_weather", {})], "max_tokens"))
with client.messages.stream(**body) as stream:
    final = stream.get_final_message()
check("cut, accumulated", (final.content[0].type, final.content[0].name, final.stop_reason), ("tool_use", "get_weather", "max_tokens"))

# Two turns with the result of a call, thinking sent back as it came.
typo = [{"name": n, "input_schema": {"type": "object"}} for n in ("read_file", "edit_file")]
ask = [{"role": "user", "content": "Fix the typo in greet.txt"}]
first = client.messages.create(model="scripted", max_tokens=1000, tools=typo, messages=ask)
result = {"type": "tool_result", "tool_use_id": first.content[-1].id, "content": [{"type": "text", "text": "hello wrold\n"}]}
second = client.messages.create(model="scripted", max_tokens=1000, tools=typo, messages=ask + [{"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}])
check("two turns", blocks(second)[-1], ("calls", "edit_file", {"path": "greet.txt", "old_string": "hello wrold", "new_string": "hello world"}))


def refused(name, status, kind, do):
    try:
        do()
        check(name, "no error", status)
    except anthropic.APIStatusError as error:
        check(name, (error.status_code, error.body["type"], error.body["error"]["type"], bool(error.body["error"]["message"])), (status, "error", kind, True))


# Recordings have no tokenizer, and an estimate would pass for a count.
refused("count_tokens", 501, "invalid_request_error", lambda: client.messages.count_tokens(model="scripted", messages=ask, tools=typo))
for stream in (False, True):
    def create(**body):
        return client.messages.create(**{"model": "scripted", "max_tokens": 10, "messages": ask, "stream": stream, **body})

    refused("unknown model", 404, "not_found_error", lambda: create(model="nobody"))
    refused("no tokens", 400, "invalid_request_error", lambda: create(max_tokens=0))
    refused("a role that is none", 400, "invalid_request_error", lambda: create(messages=[{"role": "wizard", "content": "a"}]))
    refused("an unknown tool", 400, "invalid_request_error", lambda: create(tools=tools, tool_choice={"type": "tool", "name": "no"}))
refused("breaks down, whole", 500, "api_error", lambda: client.messages.create(model="scripted", max_tokens=10, messages=[{"role": "user", "content": "break down"}]))
try:
    with client.messages.stream(model="scripted", max_tokens=10, messages=[{"role": "user", "content": "break down"}]) as stream:
        stream.get_final_message()
    check("breaks down", "no error", "api_error")
except anthropic.APIStatusError as error:
    check("breaks down", error.body["error"]["type"], "api_error")

print("messages:", "failed" if failures else "all as expected", "with anthropic", anthropic.__version__)
sys.exit(failures > 0)

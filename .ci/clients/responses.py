"""The openai Python client on the Responses interface: whole, the stream helper, parse, the background, what is stored.

Usage: responses.py URL
"""

import sys
import time

import openai
import pydantic

url = sys.argv[1]
client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)
failures = 0


def check(name, found, want):
    global failures
    if found != want:
        failures += 1
        print(f"responses: {name}: expected {want}, found {found}")


class get_weather(pydantic.BaseModel):
    city: str
    days: int


weather = openai.pydantic_function_tool(get_weather)["function"]
tools = [{"type": "function", **weather}]
patch = {"type": "custom", "name": "apply_patch", "description": "Edits files"}
text = '*** Begin Patch\n"é" \\ 😀\n*** End Patch'


def items(response):
    """What the items of a response say."""
    out = []
    for item in response.output:
        if item.type == "message":
            out.append(("says", "".join(part.text for part in item.content)))
        elif item.type == "reasoning":
            out.append(("thinks", "".join(part.text for part in item.content)))
        elif item.type == "function_call":
            assert item.call_id and item.id
            out.append(("calls", item.name, item.arguments))
        else:
            out.append(("calls", item.name, item.input))
    return out


scenarios = [
    ("think it over", {}, [("thinks", "Easy enough."), ("says", "Hello, world.")], "completed"),
    ("two calls", {"tools": tools}, [("thinks", "Two."), ("says", "Both at once."), ("calls", "get_weather", '{"city": "Paris", "days": 1}'), ("calls", "get_weather", '{"city": "Oslo", "days": 2}')], "completed"),
    ("two calls", {"tools": tools, "parallel_tool_calls": False}, [("thinks", "Two."), ("says", "Both at once."), ("calls", "get_weather", '{"city": "Paris", "days": 1}')], "completed"),
    ("one call", {"tools": tools, "tool_choice": "required"}, [("thinks", "One city."), ("calls", "get_weather", '{"city": "São Paulo \\"SP\\"", "days": 3}')], "completed"),
    ("write a patch", {"tools": [patch]}, [("calls", "apply_patch", text)], "completed"),
    ("say nothing", {}, [], "completed"),
    ("cut it off", {"tools": tools}, [("calls", "get_weather", '{"city": "Par')], "incomplete"),
]
for ask, more, want, status in scenarios:
    name = f"{ask} {sorted(more)}"
    body = {"model": "scripted", "input": ask, **more}
    whole = client.responses.create(**body)
    check(name, (items(whole), whole.status), (want, status))
    check(name + ", usage", whole.usage.total_tokens, whole.usage.input_tokens + whole.usage.output_tokens)
    check(name + ", reasoning tokens", whole.usage.output_tokens_details.reasoning_tokens > 0, want[:1] != [] and want[0][0] == "thinks")
    check(name + ", details", whole.incomplete_details and whole.incomplete_details.reason, "max_output_tokens" if status == "incomplete" else None)
    kinds, deltas = [], ""
    if status == "incomplete":  # the helper parses calls when they are done, and this one is not
        for event in client.responses.create(**body, stream=True):
            kinds.append(event.type)
        check(name + ", streamed", (items(event.response), kinds[-1]), (want, "response.incomplete"))
        continue
    with client.responses.stream(**body) as stream:
        for event in stream:
            kinds.append(event.type)
            if event.type == "response.output_text.delta":
                deltas += event.delta
        final = stream.get_final_response()
    check(name + ", helper", (items(final), final.status), (want, status))
    check(name + ", helper's text", deltas, final.output_text)
    check(name + ", begins and ends", (kinds[0], kinds[-1]), ("response.created", "response.completed"))
    check(name + ", usage of the stream", final.usage.output_tokens, whole.usage.output_tokens)

parsed = client.responses.parse(model="scripted", input="plain JSON", text_format=get_weather)
check("parse", parsed.output_parsed, get_weather(city="Rome", days=4))
parsed = client.responses.parse(model="scripted", input="two calls", tools=[openai.pydantic_function_tool(get_weather)["function"] | {"type": "function"}])
check("parse, calls", [i.parsed_arguments for i in parsed.output if i.type == "function_call"], [{"city": "Paris", "days": 1}, {"city": "Oslo", "days": 2}])
with client.responses.stream(model="scripted", input="plain JSON", text_format=get_weather) as stream:
    check("parse, streamed", stream.get_final_response().output_parsed, get_weather(city="Rome", days=4))

# Two turns, the first of which the server has kept, with the output of its call.
first = client.responses.create(model="scripted", input="Fix the typo in greet.txt", tools=[{"type": "function", "name": n, "strict": False, "parameters": {}} for n in ("read_file", "edit_file")])
call = first.output[-1]
second = client.responses.create(model="scripted", previous_response_id=first.id, input=[{"type": "function_call_output", "call_id": call.call_id, "output": "hello wrold\n"}], tools=first.tools)
check("previous_response_id", items(second)[-1], ("calls", "edit_file", '{"path": "greet.txt", "old_string": "hello wrold", "new_string": "hello world"}'))
check("previous_response_id is told", second.previous_response_id, first.id)
listed = client.responses.input_items.list(first.id)
check("input_items", [(i.type, i.role, i.content[0].text) for i in listed.data], [("message", "user", "Fix the typo in greet.txt")])
many = client.responses.create(model="scripted", input=[{"role": "user", "content": f"{n}"} for n in range(25)] + [{"role": "user", "content": "say nothing"}])
check("input_items, all pages", len(list(client.responses.input_items.list(many.id, limit=10))), 26)
check("input_items, oldest first", [i.content if isinstance(i.content, str) else i.content[0].text for i in client.responses.input_items.list(many.id, limit=3, order="asc").data], ["0", "1", "2"])

conversation = client.conversations.create(metadata={"a": "b"})
client.responses.create(model="scripted", conversation=conversation.id, input="Fix the typo in greet.txt", tools=first.tools)
kept = client.conversations.items.list(conversation.id, order="asc").data
check("conversation", [i.type for i in kept], ["message", "reasoning", "message", "function_call"])
check("conversation, one item", client.conversations.items.retrieve(kept[3].id, conversation_id=conversation.id).name, "read_file")
check("conversation, an item deleted", client.conversations.items.delete(kept[3].id, conversation_id=conversation.id).id, conversation.id)
check("conversation, what is left", [i.type for i in client.conversations.items.list(conversation.id, order="asc")], ["message", "reasoning", "message"])
referred = client.responses.create(model="scripted", input=[{"type": "item_reference", "id": kept[0].id}], tools=first.tools)
check("a reference to an item", items(referred)[-1], ("calls", "read_file", '{"path": "greet.txt"}'))
check("conversation, deleted", client.conversations.delete(conversation.id).deleted, True)

# In the background: polled to its end, and its stream followed, left and gone on with.
one = client.responses.create(model="scripted", input="take your time", background=True)
check("background", one.status, "queued")
seen = set()
deadline = time.time() + 30
while one.status in ("queued", "in_progress") and time.time() < deadline:
    time.sleep(0.05)
    one = client.responses.retrieve(one.id)
    seen.add(one.status)
check("background, polled", (one.status, one.output_text, "in_progress" in seen), ("completed", "one two three four", True))
last = None
with client.responses.stream(model="scripted", input="take your time", background=True) as stream:
    for event in stream:
        last = event.sequence_number
        if event.type == "response.created":
            response_id = event.response.id
        if event.type == "response.output_text.delta":
            break
with client.responses.stream(response_id=response_id, starting_after=last) as stream:
    numbers = [event.sequence_number for event in stream]
    final = stream.get_final_response()
check("background, gone on with", (numbers[0], final.output_text), (last + 1, "one two three four"))
again = [event.sequence_number for event in client.responses.retrieve(response_id, stream=True)]
check("background, from the beginning", again, list(range(numbers[-1] + 1)))
check("background, behind a number", [e.sequence_number for e in client.responses.retrieve(response_id, stream=True, starting_after=4)], again[5:])

long = client.responses.create(model="scripted", input="take all day", background=True)
began = time.time()
check("cancel", client.responses.cancel(long.id).status, "cancelled")
check("cancel, at once", time.time() - began < 10, True)
check("cancel, read back", client.responses.retrieve(long.id).status, "cancelled")
client.responses.delete(long.id)


def refused(name, status, do):
    try:
        do()
        check(name, "no error", status)
    except openai.APIStatusError as error:
        check(name, error.status_code, status)
        check(name + ", says", bool(error.body and error.body.get("message")), True)


refused("deleted", 404, lambda: client.responses.retrieve(long.id))
refused("deleted twice", 404, lambda: client.responses.delete(long.id))
refused("unknown previous", 404, lambda: client.responses.create(model="scripted", input="a", previous_response_id="resp_no"))
refused("unknown model", 404, lambda: client.responses.create(model="nobody", input="a"))
refused("cancelled when it is over", 400, lambda: client.responses.cancel(first.id))
refused("required without tools", 400, lambda: client.responses.create(model="scripted", input="a", tool_choice="required"))
refused("background unstored", 400, lambda: client.responses.create(model="scripted", input="a", background=True, store=False))
unkept = client.responses.create(model="scripted", input="think it over", store=False)
refused("not stored", 404, lambda: client.responses.retrieve(unkept.id))

events = list(client.responses.create(model="scripted", input="break down", stream=True))
check("breaks down", (events[-1].type, events[-1].response.status, events[-1].response.error.code, bool(events[-1].response.error.message)), ("response.failed", "failed", "server_error", True))
check("breaks down, told before", (events[-2].type, events[-2].code, bool(events[-2].message)), ("error", "server_error", True))
with client.responses.stream(model="scripted", input="break down") as stream:
    check("breaks down, helper", [event.type for event in stream][-2:], ["error", "response.failed"])
refused("an unknown thing to include", 400, lambda: client.responses.create(model="scripted", input="a", include=["everything"]))
refused("breaks down, whole", 500, lambda: client.responses.create(model="scripted", input="break down"))

print("responses:", "failed" if failures else "all as expected", "with openai", openai.__version__)
sys.exit(failures > 0)

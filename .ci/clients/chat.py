"""The openai Python client against a server: every scenario whole, streamed by hand, and by the accumulating helper.

Usage: chat.py URL FOLDER (the folder of scenarios.json and tools.json)
"""

import json
import sys

import openai

url, folder = sys.argv[1:]
client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)
tools = json.load(open(folder + "/tools.json"))
failures = 0


def arguments(text, cut):
    return text if cut else json.loads(text)


def of_message(choice, cut):
    message = choice.message
    for call in message.tool_calls or []:
        assert call.id and call.type == "function", call
    return {
        "reasoning": getattr(message, "reasoning", None) or "",
        "content": message.content or "",
        "calls": [[c.function.name, arguments(c.function.arguments, cut)] for c in message.tool_calls or []],
        "finish": choice.finish_reason,
    }


def by_hand(stream, count, cut):
    """What a loop over the chunks makes of them, that holds them to the rules which keep every client happy."""
    seen = [{"reasoning": "", "content": "", "calls": [], "finish": None} for _ in range(count)]
    ids, roles, usages, last = set(), [0] * count, [], None
    for chunk in stream:
        ids.add(chunk.id)
        if chunk.usage:
            usages.append(chunk.usage)
            assert chunk.choices == [], "usage comes in a chunk of its own"
        for choice in chunk.choices:
            assert not usages, "the usage is last"
            one, delta = seen[choice.index], choice.delta
            assert one["finish"] is None, "nothing comes behind the end of a choice"
            roles[choice.index] += delta.role is not None
            one["reasoning"] += getattr(delta, "reasoning", None) or ""
            one["content"] += delta.content or ""
            entries = delta.tool_calls or []
            assert len(entries) < 2, "one entry a chunk"
            assert not (entries and delta.content), "one kind of thing a chunk"
            for entry in entries:
                assert entry.index in (len(one["calls"]) - 1, len(one["calls"])), "indexes without gaps"
                if entry.index == len(one["calls"]):
                    assert entry.id and entry.type == "function" and entry.function.name and entry.function.arguments == "", entry
                    one["calls"].append([entry.function.name, ""])
                else:
                    assert entry.id is None and entry.function.name is None, "id and name come once"
                one["calls"][entry.index][1] += entry.function.arguments
            one["finish"] = choice.finish_reason or one["finish"]
    assert len(ids) == 1, "one id"
    assert roles == [1] * count, "the role comes once"
    assert len(usages) == 1, "usage comes once"
    for one in seen:
        one["calls"] = [[name, arguments(text, cut)] for name, text in one["calls"]]
    return seen, usages[0]


def check(name, found, want):
    global failures
    if found != want:
        failures += 1
        print(f"python: {name}: expected {want}, found {found}")


for scenario in json.load(open(folder + "/scenarios.json")):
    count, cut, name = scenario.get("choices", 1), scenario.get("cut", False), scenario["name"]
    body = {"model": "scripted", "messages": [{"role": "user", "content": scenario["ask"]}], **scenario.get("body", {})}
    extra = {"extra_body": scenario.get("extra", {})}
    if scenario.get("tools"):
        body["tools"] = tools
    want = [scenario["want"]] * count

    whole = client.chat.completions.create(**body, **extra)
    check(name + ", whole", [of_message(choice, cut) for choice in whole.choices], want)
    check(name + ", usage", whole.usage.total_tokens, whole.usage.prompt_tokens + whole.usage.completion_tokens)
    thought = whole.usage.completion_tokens_details.reasoning_tokens
    check(name + ", reasoning tokens", thought > 0, bool(scenario["want"]["reasoning"]) or "hidden" in name)

    usage = {"stream_options": {"include_usage": True}}
    stream = client.chat.completions.create(**body, **extra, stream=True, **usage)
    found, counted = by_hand(stream, count, cut)
    check(name + ", streamed", found, want)
    check(name + ", usage of the stream", counted.completion_tokens, whole.usage.completion_tokens)
    check(name + ", reasoning tokens of the stream", counted.completion_tokens_details.reasoning_tokens, thought)

    try:
        with client.chat.completions.stream(**body, **extra, **usage) as events:
            for event in events:
                pass
            final = events.get_final_completion()
        check(name + ", helper", [of_message(choice, cut) for choice in final.choices], want)
        check(name + ", helper's usage", final.usage.completion_tokens, whole.usage.completion_tokens)
        assert not cut, "the helper takes an answer that was cut off for whole"
    except openai.LengthFinishReasonError:
        check(name + ", helper", cut, True)

for fields, status, param in [
    ({"tools": []}, 400, "tools"),
    ({"tool_choice": "required"}, 400, "tool_choice"),
    ({"model": "nobody"}, 404, "model"),
]:
    for stream in (False, True):
        try:
            client.chat.completions.create(**{"model": "scripted", "messages": [], "stream": stream, **fields})
            check(f"{fields}, stream {stream}", "no error", status)
        except openai.APIStatusError as error:
            check(f"{fields}, stream {stream}", (error.status_code, error.body["param"]), (status, param))

text = client.completions.create(model="scripted", prompt="think it over", max_tokens=50)
check("completions", text.choices[0].text, "<think>\nEasy enough.\n</think>\n\nHello, world.")
pieces = client.completions.create(model="scripted", prompt="think it over", max_tokens=50, stream=True)
check("completions, streamed", "".join(chunk.choices[0].text for chunk in pieces), text.choices[0].text)
check("models", [model.id for model in client.models.list()], ["scripted"])

print("python:", "failed" if failures else "all as expected", "with openai", openai.__version__)
sys.exit(failures > 0)

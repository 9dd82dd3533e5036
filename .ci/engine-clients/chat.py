"""The openai Python client on Chat Completions, in front of a real engine.

Usage: chat.py URL MODEL
"""

import sys

import openai

from checks import SEED, Checks, Weather, schema

client = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key="none", max_retries=0, timeout=600)
checks = Checks("chat")
model = sys.argv[2]
checks.same("models", [m.id for m in client.models.list()], [model])
tool = {"type": "function", "function": {"name": "get_weather", "description": "The weather in a city", "parameters": schema, "strict": True}}
named = {"type": "function", "function": {"name": "get_weather"}}


def body(text, tokens, **more):
    return {"model": model, "messages": [{"role": "user", "content": text}], "max_tokens": tokens, "temperature": 0, "seed": SEED, **more}


def usage(what, u):
    checks.that(what + ", usage", u and u.prompt_tokens > 0 and u.completion_tokens > 0 and u.total_tokens == u.prompt_tokens + u.completion_tokens, u)


def helper(what, request):
    """Streams with the helper that accumulates; gives what it has accumulated, and the text of the deltas."""
    text = ""
    with client.chat.completions.stream(**request, stream_options={"include_usage": True}) as stream:
        for event in stream:
            if event.type == "content.delta":
                text += event.delta
        final = stream.current_completion_snapshot  # the helper's own last word is an error where the limit ended the text
    usage(what + ", streamed", final.usage)
    return final, text


request = body("Count from one to five, in words.", 16)
whole = client.chat.completions.create(**request)
usage("text", whole.usage)
checks.that("text", whole.choices[0].message.content and whole.choices[0].finish_reason in ("stop", "length"), whole)
final, text = helper("text", request)
checks.same("text, deltas", text, final.choices[0].message.content)
checks.same("text, streamed", (text, final.choices[0].finish_reason), (whole.choices[0].message.content, whole.choices[0].finish_reason))

for choice in ("required", named):
    request = body("How is the weather in Paris?", 60, tools=[tool], tool_choice=choice, parallel_tool_calls=False)
    what = f"forced, {choice if choice == 'required' else 'named'}"
    whole = client.chat.completions.create(**request)
    final, _ = helper(what, request)
    for how, one in ((what, whole), (what + ", streamed", final)):
        calls = one.choices[0].message.tool_calls or []
        checks.same(how, [(c.type, c.function.name, bool(c.id)) for c in calls], [("function", "get_weather", True)])
        checks.same(how + ", finish", one.choices[0].finish_reason, "tool_calls" if choice == "required" else "stop")
        for call in calls:
            checks.weather(how + ", arguments", call.function.arguments)
    checks.same(what + ", whole as streamed", *[[c.function.arguments for c in one.choices[0].message.tool_calls or []] for one in (whole, final)])

parsed = client.chat.completions.parse(**body("The weather in Oslo, for two days, as JSON.", 60), response_format=Weather)
checks.that("parse", isinstance(parsed.choices[0].message.parsed, Weather), parsed.choices[0].message)

two = client.chat.completions.create(**{**body("Say a word.", 6, n=2, logprobs=True, top_logprobs=2), "temperature": 1})
checks.same("two choices", [c.index for c in two.choices], [0, 1])
for choice in two.choices:
    checks.same("log probabilities", b"".join(bytes(t.bytes) for t in choice.logprobs.content).decode(errors="replace").strip(), choice.message.content)
    checks.that("log probabilities, the likeliest", all(len(t.top_logprobs) == 2 and t.logprob <= 0 for t in choice.logprobs.content), choice.logprobs)

checks.end("openai", openai.__version__)

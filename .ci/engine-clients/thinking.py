"""Reasoning in front of a real engine: a server that takes what the model writes, up to the end of a thought, for reasoning
shows it as such on every interface, whole and streamed.

Usage: thinking.py URL MODEL
"""

import sys

import anthropic
import openai

from checks import SEED, Checks

url, model = sys.argv[1:3]
client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0, timeout=600)
claude = anthropic.Anthropic(base_url=url, api_key="none", max_retries=0, timeout=600)
checks = Checks("thinking")
ask = [{"role": "user", "content": "Why is the sea salty?"}]

request = {"model": model, "messages": ask, "max_tokens": 16, "temperature": 0, "seed": SEED}
whole = client.chat.completions.create(**request)
thought = whole.choices[0].message.reasoning
checks.that("chat", thought and whole.choices[0].finish_reason in ("stop", "length"), whole)
checks.that("chat, usage", 0 < whole.usage.completion_tokens_details.reasoning_tokens <= whole.usage.completion_tokens, whole.usage)
with client.chat.completions.stream(**request) as stream:
    for _ in stream:
        pass
    snapshot = stream.current_completion_snapshot
checks.same("chat, streamed", snapshot.choices[0].message.reasoning, thought)

request = {"model": model, "input": ask, "max_output_tokens": 16, "temperature": 0, "extra_body": {"seed": SEED}}
whole = client.responses.create(**request, include=["reasoning.encrypted_content"], store=False)
checks.same("responses", (whole.output[0].type, whole.output[0].content[0].text), ("reasoning", thought))
checks.that("responses, usage", 0 < whole.usage.output_tokens_details.reasoning_tokens <= whole.usage.output_tokens, whole.usage)
deltas = ""
with client.responses.stream(**request) as stream:
    for event in stream:
        if event.type == "response.reasoning_text.delta":
            deltas += event.delta
    final = event.response
checks.same("responses, streamed", (deltas, final.output[0].content[0].text), (thought, thought))
# It comes back as it was given out, and the conversation goes on from it.
back = [{"type": "reasoning", "id": whole.output[0].id, "summary": [], "encrypted_content": whole.output[0].encrypted_content}]
more = client.responses.create(**{**request, "input": ask + back + [{"role": "assistant", "content": "So it is."}, {"role": "user", "content": "And the lake?"}]})
checks.that("responses, another turn", more.usage.input_tokens > whole.usage.input_tokens, more.usage)

request = {"model": model, "messages": ask, "max_tokens": 16, "extra_body": {"temperature": 0}}
whole = claude.messages.create(**request)
checks.same("messages", (whole.content[0].type, whole.content[0].thinking, whole.content[0].signature != ""), ("thinking", thought, True))
deltas = ""
with claude.messages.stream(**request) as stream:
    for event in stream:
        if event.type == "thinking":
            deltas += event.thinking
    final = stream.get_final_message()
checks.same("messages, streamed", (deltas, final.content[0].thinking, final.content[0].signature != ""), (thought, thought, True))
more = claude.messages.create(**{**request, "messages": ask + [{"role": "assistant", "content": final.content}, {"role": "user", "content": "And the lake?"}]})
checks.that("messages, another turn", more.usage.input_tokens > whole.usage.input_tokens, more.usage)

checks.end("openai", openai.__version__, "and anthropic", anthropic.__version__)

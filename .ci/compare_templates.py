"""Compares the chat templates of a folder with what transformers renders, and times both.

compare_templates.py RENDERCHATS [TEMPLATE...]

RENDERCHATS is the program internal/cmd/renderchats. Without templates those of templates/ are compared, with the
variants that templates.go makes of them left out.
"""

import copy
import datetime
import glob
import json
import os
import subprocess
import sys
import time

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
import transformers.utils.chat_template_utils as chat_templates

NOW = "2026-03-04 09:05:07"
PARAMETERS = ("messages", "tools", "documents", "add_generation_prompt")


class Clock(datetime.datetime):
    """A clock that stands still, so that templates which print the date can be compared."""

    @classmethod
    def now(cls, tz=None):
        return cls.strptime(NOW, "%Y-%m-%d %H:%M:%S")


chat_templates.datetime = Clock


def theirs(source, conversation):
    """What transformers renders: the prompt and None, or None and the error."""
    arguments = copy.deepcopy(conversation)
    messages = arguments.pop("messages")
    try:
        rendered, _ = chat_templates.render_jinja_template([messages], chat_template=source, **arguments)
        return rendered[0], None
    except Exception as error:  # whatever it is, the template renders nothing
        return None, f"{type(error).__name__}: {error}"


def job(name, source, conversation, repeat=1):
    variables = {key: value for key, value in conversation.items() if key not in PARAMETERS}
    fields = {"name": name, "source": source, "conversation": conversation, "variables": variables, "now": NOW, "repeat": repeat}
    return json.dumps(fields, ensure_ascii=False)


def ours(program, jobs):
    result = subprocess.run([program], input="\n".join(jobs).encode(), capture_output=True, check=True)
    return [json.loads(line) for line in result.stdout.decode().split("\n") if line]


def compare(program, templates, conversations):
    """Counts the conversations on which both agree, and prints the others."""
    cases = [(name, source, which) for name, source in templates.items() for which in conversations]
    answers = ours(program, [job(name, source, conversations[which]) for name, source, which in cases])
    if len(answers) != len(cases):
        sys.exit(f"expected {len(cases)} answers, found {len(answers)}")
    equal = rendered = 0
    for (name, source, which), answer in zip(cases, answers):
        prompt, error = theirs(source, conversations[which])
        rendered += error is None
        if error is not None and answer.get("error") or error is None and not answer.get("error") and prompt == answer["prompt"]:
            equal += 1
        elif error is not None:
            print(f"{name}, {which}: transformers refuses: {error[:200]}")
        elif answer.get("error"):
            print(f"{name}, {which}: refused: {answer['error'][:200]}")
        else:
            at = next((i for i, (a, b) in enumerate(zip(prompt, answer["prompt"])) if a != b), min(len(prompt), len(answer["prompt"])))
            print(f"{name}, {which}: differs at {at}: expected {prompt[at - 20:at + 60]!r}, found {answer['prompt'][at - 20:at + 60]!r}")
    print(f"{equal} of {len(cases)} equal ({len(templates)} templates, {len(conversations)} conversations; transformers renders {rendered})")
    return equal == len(cases)


def long_conversation():
    """40 messages, some with calls, and 20 tools of five parameters."""
    tools = []
    for i in range(20):
        properties = {
            f"text_{i}": {"type": "string", "description": "A text of some length that says what is wanted"},
            "count": {"type": "integer", "description": "How many", "minimum": 1, "maximum": 100},
            "kind": {"type": "string", "enum": ["one", "two", "three"], "description": "Which kind"},
            "options": {"type": "object", "properties": {"deep": {"type": "boolean"}, "limit": {"type": "number"}}, "required": ["deep"]},
            "tags": {"type": "array", "items": {"type": "string"}, "description": "Tags"},
        }
        parameters = {"type": "object", "properties": properties, "required": [f"text_{i}", "count"]}
        tools.append({"type": "function", "function": {"name": f"function_{i}", "description": f"Does the thing of number {i}, and says how it went.", "parameters": parameters}})
    messages = [{"role": "system", "content": "Be brief, and use the tools."}]
    words = "The quick brown fox jumps over the lazy dog, and then it does so again. " * 8
    while len(messages) < 40:
        i = len(messages)
        call = {"id": f"call_{i:08}", "type": "function", "function": {"name": f"function_{i % 20}", "arguments": {f"text_{i % 20}": words[:200], "count": i, "options": {"deep": True, "limit": 1.5}, "tags": ["a", "b"]}}}
        messages += [
            {"role": "user", "content": f"{i}: {words}"},
            {"role": "assistant", "content": "", "reasoning_content": "It needs a tool.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "name": call["function"]["name"], "content": words},
            {"role": "assistant", "content": words},
        ]
    return {"messages": messages[:40], "tools": tools, "add_generation_prompt": True, "bos_token": "<s>", "eos_token": "</s>"}


def compare_times(program, templates, repeat=20):
    """Times both with the fastest of some renderings, from the JSON text to the prompt."""
    conversation = long_conversation()
    texts = {key: json.dumps(value) for key, value in conversation.items()}
    answers = ours(program, [job(name, source, conversation, repeat) for name, source in templates.items()])
    total_theirs = total_ours = 0.0
    print(f"{'a conversation of 40 messages and 20 tools':44}transformers  parlance  ratio")
    for (name, source), answer in zip(templates.items(), answers):
        if answer.get("error"):
            print(f"{name}: {answer['error']}")
            return False
        best = float("inf")
        for _ in range(repeat):
            start = time.perf_counter()
            arguments = {key: json.loads(text) for key, text in texts.items()}
            rendered, _ = chat_templates.render_jinja_template([arguments.pop("messages")], chat_template=source, **arguments)
            best = min(best, time.perf_counter() - start)
        if rendered[0] != answer["prompt"]:
            print(f"{name}: the prompts differ")
            return False
        total_theirs += best
        total_ours += answer["seconds"]
        print(f"{name:44}{best * 1000:9.2f} ms{answer['seconds'] * 1000:7.2f} ms{answer['seconds'] / best:7.2f}")
    ratio = total_ours / total_theirs
    print(f"{'all':44}{total_theirs * 1000:9.2f} ms{total_ours * 1000:7.2f} ms{ratio:7.2f} (at most 0.67)")
    return ratio <= 2 / 3


def main():
    program, paths = sys.argv[1], sys.argv[2:] or sorted(glob.glob("templates/*.jinja"))
    templates = {}
    for path in paths:
        with open(path, encoding="utf-8", newline="") as file:
            templates[os.path.basename(path).removesuffix(".jinja")] = file.read()
    with open("templates/testdata/conversations.json", encoding="utf-8") as file:
        conversations = json.load(file)
    agree = compare(program, templates, conversations)
    fast = len(sys.argv) > 2 or compare_times(program, templates)
    sys.exit(0 if agree and fast else 1)


main()

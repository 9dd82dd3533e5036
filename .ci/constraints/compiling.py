"""Holds the time that xgrammar takes to compile our structural tags against what it takes for the reference's.

    compiling.py PAIRS.jsonl MODEL.gguf MOST

PAIRS.jsonl is what constraintsamples -reference writes: our tags for as many copies of the tools as it says, and the
reference's for the tools as they are, which are copied here. The vocabulary is that of a model. The times are processor
times, the least of several runs; each compile starts with nothing kept from others, as for a request with new tools. A
busy machine only ever adds time, so a ratio over the limit is measured again, up to TRIES times, before it counts. It
fails if ours take longer than the reference's over all, or those of one key more than MOST times as long.
"""

import json
import math
import re
import struct
import sys
import time

from acceptors import load_xgrammar

RUNS = 3
TRIES = 8


def tokens(path):
    """The vocabulary in a GGUF file: little-endian, the metadata first, each a key, a type and a value."""
    numbers = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
    with open(path, "rb") as file:

        def read(form):
            return struct.unpack("<" + form, file.read(struct.calcsize("<" + form)))

        def text():
            return file.read(read("Q")[0])

        def value(kind):
            if kind == 8:
                return text()
            if kind == 9:
                inner, count = read("IQ")
                return [value(inner) for _ in range(count)]
            return read(numbers[kind])[0]

        _, _, _, pairs = read("4sIQQ")
        for _ in range(pairs):
            key, (kind,) = text(), read("I")
            found = value(kind)
            if key == b"tokenizer.ggml.tokens":
                return [token.decode() for token in found]
    sys.exit(f"{path} holds no vocabulary")


def copied(tag, pair):
    """The reference's tag for copies of the tools: in every list, what is about one tool comes once a copy."""
    tools = re.compile(r"\b(" + "|".join(map(re.escape, pair["tools"])) + r")\b")
    words = re.compile(r"\b(" + "|".join(map(re.escape, pair["tools"] + pair["parameters"])) + r")\b")

    def renamed(node, end, in_schema=False):
        if isinstance(node, str):
            return words.sub(lambda word: word[0] + end, node)
        if isinstance(node, list):
            return [renamed(item, end, in_schema) for item in node]
        if isinstance(node, dict):
            return {
                (words.sub(lambda word: word[0] + end, key) if in_schema else key): item
                if key == "type" and isinstance(item, str)
                else renamed(item, end, in_schema or key == "json_schema")
                for key, item in node.items()
            }
        return node

    def about(node):
        return set(tools.findall(json.dumps(node)))

    def walk(node):
        if isinstance(node, dict):
            return {key: walk(item) for key, item in node.items()}
        if not isinstance(node, list) or not any(len(about(item)) == 1 for item in node):
            return [walk(item) for item in node] if isinstance(node, list) else node
        out = []
        for copy in range(1, pair["copies"] + 1):
            for item in node:
                if len(about(item)) == 1:
                    out.append(renamed(item, f"_{copy}") if copy > 1 else item)
                elif copy == 1:
                    out.append(walk(item))
        return out

    return walk(tag)


def main():
    file, model, most = sys.argv[1], sys.argv[2], float(sys.argv[3])
    xgrammar = load_xgrammar()
    vocabulary = xgrammar.TokenizerInfo(tokens(model), vocab_type=xgrammar.VocabType.BYTE_LEVEL, stop_token_ids=[2])
    compiler = xgrammar.GrammarCompiler(vocabulary, max_threads=1)

    def seconds(tag):
        compiler.clear_cache()
        start = time.process_time()
        compiler.compile_structural_tag(tag)
        return time.process_time() - start

    pairs = [json.loads(line) for line in open(file, encoding="utf-8")]
    loose = {(pair["key"], json.dumps(pair["tool_choice"])): pair["structural_tag"] for pair in pairs if not pair["strict"]}
    tags, left_out = {}, set()
    for pair in pairs:
        theirs = pair["structural_tag"]
        if pair["strict"] and loose[pair["key"], json.dumps(pair["tool_choice"])] == theirs:
            left_out.add(pair["key"])  # the reference holds no schema there, which takes no time
            continue
        if isinstance(pair["tool_choice"], str):  # a named tool has no other beside it
            theirs = copied(theirs, pair)
        tags.setdefault(pair["key"], []).append((pair["ours"], json.dumps(theirs)))

    least = {key: [[math.inf, math.inf] for _ in some] for key, some in tags.items()}

    def measure(keys):
        for key in keys:
            for best, both in zip(least[key], tags[key]):
                for _ in range(RUNS):
                    best[:] = [min(time, seconds(tag)) for time, tag in zip(best, both)]
        times = {key: [sum(column) for column in zip(*some)] for key, some in least.items()}
        times["all"] = [sum(column) for column in zip(*times.values())]
        slow = [key for key, (ours, theirs) in times.items() if ours > theirs * (1 if key == "all" else most)]
        return times, slow

    times, slow = measure(tags)
    for _ in range(TRIES - 1):
        if slow:
            times, slow = measure(tags if "all" in slow else slow)

    print(f"{len(pairs[0]['tools']) * pairs[0]['copies']} tools, {len(vocabulary.decoded_vocab)} tokens: ours, the reference's, the ratio")
    for key, (ours, theirs) in times.items():
        print(f"{key:14} {ours * 1e3:8.1f} ms {theirs * 1e3:8.1f} ms  {ours / theirs:.2f}")
    if left_out:
        print("not compared where the reference holds no schema of a strict tool: " + ", ".join(sorted(left_out)))
    if slow:
        sys.exit("slower than allowed: " + ", ".join(slow))


if __name__ == "__main__":
    main()

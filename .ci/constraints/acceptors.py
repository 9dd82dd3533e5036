"""Holds xgrammar and llguidance against constraints written by constraintsamples: each must compile every one, accept
what satisfies it and refuse what does not.

    acceptors.py SAMPLES.jsonl
"""

import json
import sys
import time
import types


def load_xgrammar():
    """xgrammar names types of torch and transformers in its signatures; compiling and matching need neither."""
    import tvm_ffi  # noqa: F401  (looks for torch, so before the stand-in)

    for name in ("torch", "transformers"):
        module = types.ModuleType(name)
        module.__getattr__ = lambda attribute: type(attribute, (), {"__init__": lambda self, *_, **__: None})
        sys.modules[name] = module
    import xgrammar

    return xgrammar


class XGrammar:
    def __init__(self):
        self.x = load_xgrammar()
        vocabulary = [bytes([i]) for i in range(256)] + [b"<eos>"]
        info = self.x.TokenizerInfo(vocabulary, stop_token_ids=[256])
        self.compiler = self.x.GrammarCompiler(info, max_threads=1, cache_enabled=False)

    def tag(self, text):
        return self.compiler.compile_structural_tag(text)

    def ebnf(self, text):
        return self.compiler.compile_grammar(text)

    def accepts(self, compiled, text):
        matcher = self.x.GrammarMatcher(compiled, terminate_without_stop_token=True)
        return (text == "" or matcher.accept_string(text)) and matcher.is_completed()


class LLGuidance:
    def __init__(self):
        import llguidance

        class Bytes:
            eos_token_id, bos_token_id, special_token_ids = 256, None, [256]
            tokens = [bytes([i]) for i in range(256)] + [b"<eos>"]

            def __call__(self, text):
                return list(text)

        self.l = llguidance
        self.tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Bytes()))

    def lark(self, text):
        grammar = self.l.LLMatcher.grammar_from_lark(text)
        error = self.l.LLMatcher.validate_grammar(grammar, self.tokenizer)
        if error:
            raise ValueError(error)
        return self.l.LLMatcher(self.tokenizer, grammar)

    def accepts(self, matcher, text):
        matcher.reset()
        data = list(text.encode())
        if data and matcher.try_consume_tokens(data) < len(data):
            return False
        return matcher.is_accepting() and not matcher.is_error()


def main():
    xgrammar, llguidance = XGrammar(), LLGuidance()
    ways = [
        ("structural_tag", xgrammar.tag, xgrammar.accepts),
        ("ebnf", xgrammar.ebnf, xgrammar.accepts),
        ("lark", llguidance.lark, llguidance.accepts),
    ]
    totals = {way: [0, 0, 0, 0.0] for way, _, _ in ways}
    wrong = 0
    # xgrammar's own element for JSON schemas takes any spelling of JSON (white space, escapes), of which our language has
    # only a part. A text that is spelt otherwise and means what the schema allows is no fault; more than one in a hundred
    # would not be that.
    wider = []

    def complain(line, way, what):
        nonlocal wrong
        wrong += 1
        if wrong <= 40:
            print(f"{line['name']}: {way}: {what}")

    for row in open(sys.argv[1], encoding="utf-8"):
        line = json.loads(row)
        for way, compile, accepts in ways:
            total = totals[way]
            start = time.perf_counter()
            try:
                compiled = compile(line[way])
            except Exception as error:
                complain(line, way, f"does not compile: {str(error)[:300]}")
                continue
            total[3] += time.perf_counter() - start
            total[0] += 1
            for text in line["accept"]:
                total[1] += 1
                if not accepts(compiled, text):
                    complain(line, way, f"refuses {text!r}")
            if way in line["widened"]:
                continue
            for text in line["refuse"]:
                total[2] += 1
                if accepts(compiled, text):
                    if way == "structural_tag":
                        wider.append(f"{line['name']}: {way}: accepts {text!r}")
                    else:
                        complain(line, way, f"accepts {text!r}")
    for way, (compiled, accepted, refused, seconds) in totals.items():
        print(f"{way}: {compiled} compiled in {seconds:.2f} s, {accepted} texts to accept, {refused} to refuse")
    for text in wider[:10]:
        print("wider: " + text)
    if len(wider) * 100 > totals["structural_tag"][2]:
        wrong += len(wider)
    if wrong:
        print(f"{wrong} wrong")
        sys.exit(1)


if __name__ == "__main__":
    main()

"""Writes random argument lists of Python calls with the JSON text that they mean, one JSON object a line:

    python3 generate.py > literals.jsonl

What they mean is taken from Python's own syntax tree, not from values, so that order, repeated keys and the elements of
sets stay as they are written. Two things that Python allows are left out, because a stream reads them otherwise on
purpose (see text.go): a literal with a prefix directly behind another literal, and one without directly behind a literal
with the same quotes.
"""

import ast
import json
import random
import re
import string
import warnings

LINES = 600
CHOICE = random.Random(7)
CHARACTERS = list(string.ascii_letters + string.digits + " ,.:;()[]{}=<>/#|-_+*%$@!?~^&`") + list("éß日本😀ǿ\u00a0\u2028")
ESCAPES = [
    "\\n", "\\t", "\\r", "\\\\", "\\'", '\\"', "\\a", "\\b", "\\f", "\\v", "\\0", "\\101", "\\1", "\\377", "\\x41", "\\xe9",
    "\\u00e9", "\\u65e5", "\\U0001F600", "\\ud83d\\ude00", "\\\n", "\\d", "\\/", "\\q", "\\z",
]


def inside(quotes, verbatim):
    out = []
    for _ in range(CHOICE.choice([0, 1, 3, 8, 20])):
        x = CHOICE.random()
        if x < 0.2 and not verbatim:
            out.append(CHOICE.choice(ESCAPES))
        elif x < 0.25 and verbatim:
            out.append("\\" + CHOICE.choice("nd.x"))
        elif x < 0.3:
            out.append('"' if quotes[0] == "'" else "'")
        elif x < 0.33 and len(quotes) == 3:
            out.append("\n")
        elif x < 0.35 and len(quotes) == 3:
            out.append(quotes[0] + "x")
        else:
            out.append(CHOICE.choice(CHARACTERS))
    return "".join(out)


def literal():
    quotes = CHOICE.choice(["'", '"', "'''", '"""', '"', "'"])
    prefix = CHOICE.choice([""] * 8 + ["r", "R", "u", "U", "f", "F", "rf", "fR", "Rf"])
    text = inside(quotes, "r" in prefix.lower())
    if "f" in prefix.lower():
        text = text.replace("{", "").replace("}", "")
    return prefix + quotes + text + quotes


def text():
    out = literal()
    for _ in range(CHOICE.choice([0] * 6 + [1, 2])):
        out += CHOICE.choice([" ", "\n    ", "  "]) + literal()
    return out


def number():
    whole, real = CHOICE.randint, CHOICE.uniform
    return CHOICE.choice([
        lambda: str(whole(-10**6, 10**6)),
        lambda: str(whole(-10**40, 10**40)),
        lambda: "+" + str(whole(0, 99)),
        lambda: "- " + str(whole(0, 99)),
        lambda: f"{real(-1e6, 1e6):.{whole(0, 8)}f}",
        lambda: repr(real(-1, 1)),
        lambda: f"{whole(0, 9)}e{whole(-30, 30)}",
        lambda: f"{whole(0, 9)}.{whole(0, 999)}E+{whole(0, 20)}",
        lambda: f".{whole(0, 999)}",
        lambda: f"{whole(0, 999)}.",
        lambda: f"{whole(1, 999)}_{whole(100, 999)}",
        lambda: f"1_0.{whole(0, 9)}_5e1_0",
        lambda: hex(CHOICE.getrandbits(CHOICE.choice([4, 70]))),
        lambda: oct(CHOICE.getrandbits(20)).replace("0o", CHOICE.choice(["0o", "0O"])),
        lambda: bin(CHOICE.getrandbits(20)),
        lambda: f"0X_{CHOICE.getrandbits(20):X}",
        lambda: "00",
        lambda: "-0x1F",
    ])()


def word():
    return CHOICE.choice(["True", "False", "None"])


def blanks():
    return CHOICE.choice(["", "", "", " ", "  ", "\n  ", "\t"])


def listed(items, opener, closer, comma):
    if not items:
        return opener + blanks() + closer
    return opener + ",".join(blanks() + item + blanks() for item in items) + ("," + blanks() if comma else "") + closer


def key():
    x = CHOICE.random()
    if x < 0.7:
        return text()
    if x < 0.8:
        return str(CHOICE.randint(-99, 10**25))
    if x < 0.85:
        return word()
    if x < 0.9:
        return f"({text()})"
    return listed([key() for _ in range(CHOICE.randint(2, 3))], "(", ")", CHOICE.random() < 0.5)


def value(depth):
    def values(most):
        return [value(depth + 1) for _ in range(CHOICE.randint(0, most))]

    x = CHOICE.random()
    comma = CHOICE.random() < 0.3
    if depth > 4 or x < 0.3:
        return text()
    if x < 0.5:
        return number()
    if x < 0.58:
        return word()
    if x < 0.68:
        return listed(values(4), "[", "]", comma)
    if x < 0.76:
        items = values(4)
        return listed(items, "(", ")", comma or len(items) == 1)
    if x < 0.81:
        return listed([value(depth + 1)], "(", ")", False)
    if x < 0.86:
        return listed([CHOICE.choice([text, number, word])() for _ in range(CHOICE.randint(1, 4))], "{", "}", comma)
    return listed([key() + blanks() + ":" + blanks() + item for item in values(4)], "{", "}", comma)


def quoted(content):
    """The JSON string, surrogate pairs joined and lone surrogates replaced."""
    pair = lambda found: found.group().encode("utf-16", "surrogatepass").decode("utf-16")
    content = re.sub("[\ud800-\udbff][\udc00-\udfff]", pair, content)
    return json.dumps(re.sub("[\ud800-\udfff]", "\ufffd", content), ensure_ascii=False)


def meaning(node):
    if isinstance(node, ast.Constant):
        return quoted(node.value) if isinstance(node.value, str) else json.dumps(node.value)
    if isinstance(node, ast.JoinedStr):
        return quoted("".join(part.value for part in node.values))
    if isinstance(node, ast.UnaryOp):
        number = node.operand.value
        return json.dumps(-number if isinstance(node.op, ast.USub) else number)
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return "[" + ", ".join(meaning(element) for element in node.elts) + "]"
    members = []
    for name, member in zip(node.keys, node.values, strict=True):
        name = meaning(name)
        members.append((name if name.startswith('"') else quoted(name)) + ": " + meaning(member))
    return "{" + ", ".join(members) + "}"


def main():
    warnings.simplefilter("ignore")  # unknown escapes
    written = 0
    while written < LINES:
        arguments = []
        for i in range(CHOICE.randint(0, 4)):
            name = CHOICE.choice(["a", "city", "from_", "größe", "x1", "_", "名"]) + str(i)
            arguments.append(name + CHOICE.choice(["=", "=", " = ", "= "]) + value(0))
        source = listed(arguments, "", ")", CHOICE.random() < 0.2)
        try:
            call = ast.parse("f(" + source, mode="eval").body
        except SyntaxError:
            continue  # such as a quote at the end of a triple-quoted string
        members = [json.dumps(k.arg, ensure_ascii=False) + ": " + meaning(k.value) for k in call.keywords]
        print(json.dumps({"arguments": source, "want": "{" + ", ".join(members) + "}"}, ensure_ascii=False))
        written += 1


main()

"""Coding agents against a scripted model, offline: each reads a file, edits it and reports.

Usage: agents.py prepare WORK            writes the recordings that the server plays
       agents.py run WORK URL LOG BIN    runs the agents of the folder BIN against the server at URL, whose log is LOG

A run is good if the file is mended, the agent itself says that it succeeded, the server was asked exactly as often as the
script has steps, every request was answered with 200, and nobody looked up a name: the agents run where there is no network
but the loopback, with a resolver here that writes down what it is asked.
"""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

# Seconds for one run. It takes 1 to 15; more only on a machine that is busy with other things.
LIMIT = 150

TASK = "Fix the typo in greet.txt"
READ, EDIT, REPORT = "Step one: I read the file.", "Step two: I mend it.", "Done: greet.txt says hello world."
PATCH = "*** Begin Patch\n*** Update File: greet.txt\n@@\n-hello wrold\n+hello world\n*** End Patch"


def hermes(name, arguments):
    return "<tool_call>\n" + json.dumps({"name": name, "arguments": arguments}) + "\n</tool_call>"


def qwen3_coder(name, arguments):
    parameters = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in arguments.items())
    return f"<tool_call>\n<function={name}>\n{parameters}</function>\n</tool_call>"


def glm47(name, arguments):
    return "<tool_call>" + name + "".join(f"<arg_key>{key}</arg_key><arg_value>{value}</arg_value>" for key, value in arguments.items()) + "</tool_call>"


# How a model of a family thinks, and how it writes calls; the parsers that read both.
FAMILIES = {
    "hermes": (hermes, "<think>\n{}\n</think>\n\n", {"tool_call_parser": "hermes", "reasoning_parser": "qwen3"}),
    "qwen3_coder": (qwen3_coder, "", {"tool_call_parser": "qwen3_coder"}),
    "glm47": (glm47, "{}</think>", {"tool_call_parser": "glm47", "reasoning_parser": "glm47"}),
}


class Run:
    """One agent on one interface, with a model of its own."""

    def __init__(self, name, family, path, steps, command, success, model=None, files=None, environment=None):
        self.name, self.family, self.path, self.steps = name, family, path, steps
        self.command, self.success, self.model = command, success, model or name
        self.files, self.environment = files or {}, environment or {}

    def recordings(self, folder):
        call, thought, parsers = FAMILIES[self.family]
        file = str(folder / self.name / "work" / "greet.txt")

        def written(step):
            name, arguments = step
            return call(name, {key: value.replace("$FILE", file) for key, value in arguments.items()})

        read, edit = (written(step) for step in self.steps)
        say = [thought.format("Which file is it?") + READ + "\n" + read, thought.format("Two letters are swapped.") + EDIT + "\n" + edit, thought.format("That was all.") + REPORT]
        match = [[TASK], [READ, "hello wrold"], [EDIT, "hello world"]]
        return {"model": self.model, "max_model_len": 200000, **parsers, "recordings": [{"match": {"contains": m}, "text": t} for m, t in zip(match, say)]}


def lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def codex_done(out, patched):
    events = lines(out)
    assert events[-1]["type"] == "turn.completed", events[-1]
    items = [event["item"] for event in events if event["type"] == "item.completed"]
    assert any(item["type"] == "file_change" and item["status"] == "completed" for item in items) == patched, items
    assert any(item["type"] == "agent_message" and item["text"] == REPORT for item in items), items


def claude_done(out):
    result = json.loads(out)
    assert result["is_error"] is False and result["permission_denials"] == [] and result["result"] == REPORT, result


def qwen_done(out):
    result = json.loads(out)[-1]
    assert result["type"] == "result" and result["is_error"] is False and result["result"] == REPORT, result
    assert result["stats"]["tools"]["byName"]["edit"]["success"] == 1, result


def opencode_done(out):
    events = lines(out)
    tools = [(event["part"]["tool"], event["part"]["state"]["status"]) for event in events if event["type"] == "tool_use"]
    assert tools == [("read", "completed"), ("edit", "completed")], tools
    assert [event for event in events if event["type"] == "step_finish"][-1]["part"]["reason"] == "stop", events
    assert any(event["type"] == "text" and event["part"]["text"].strip() == REPORT for event in events), events


def replaced(tool, read, path, old, new):
    return [(read, {path: "$FILE"}), (tool, {path: "$FILE", old: "hello wrold", new: "hello world"})]


CODEX = """model = "{model}"
model_provider = "parlance"
approval_policy = "never"
sandbox_mode = "danger-full-access"
web_search = "disabled"
check_for_update_on_startup = false
{more}
[analytics]
enabled = false
[features]
plugins = false
remote_plugin = false
apps = false
[model_providers.parlance]
name = "Parlance"
base_url = "$URL/v1"
env_key = "PARLANCE_API_KEY"
wire_api = "responses"
"""
CATALOGUE = {"models": [{
    "slug": "codex-catalogue", "display_name": "Scripted", "description": "Scripted", "supported_reasoning_levels": [], "shell_type": "unified_exec",
    "visibility": "list", "supported_in_api": True, "priority": 1, "base_instructions": "You are a coding agent.", "support_verbosity": False,
    "apply_patch_tool_type": "freeform", "truncation_policy": {"mode": "tokens", "limit": 10000}, "context_window": 32000,
    "experimental_supported_tools": [], "supports_parallel_tool_calls": False, "supports_reasoning_summaries": False,
}]}


def codex(name, family, steps, patched, model=None, more="", files=None):
    return Run(name, family, "/v1/responses", steps, ["codex", "exec", "--json", "--ephemeral", "--skip-git-repo-check", TASK],
               lambda out: codex_done(out, patched), model,
               {"home/.codex/config.toml": CODEX.format(model=model or name, more=more), **(files or {})}, {"PARLANCE_API_KEY": "dummy"})


def opencode(name, family, path, package):
    config = {
        "model": "parlance/" + name, "small_model": "parlance/" + name, "autoupdate": False, "share": "disabled",
        "provider": {"parlance": {
            "npm": package, "name": "Parlance", "options": {"baseURL": "$URL/v1", "apiKey": "dummy"},
            "models": {name: {"name": name, "limit": {"context": 32000, "output": 4096}}},
        }},
    }
    return Run(name, family, path, replaced("edit", "read", "filePath", "oldString", "newString"), ["opencode", "run", "--format", "json", "--title", "t", TASK], opencode_done,
               files={"work/opencode.json": json.dumps(config)},
               environment={"OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1", "npm_config_offline": "true"})


QWEN = {
    "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False, "disableAutoUpdate": True, "disableUpdateNag": True}, "security": {"auth": {"selectedType": "openai"}},
}
SCRIPT = 'text(await tools.apply_patch("' + PATCH.replace("\n", "\\n") + '"));'
RUNS = [
    # Codex knows this model not: functions, and a namespace of them.
    codex("codex-unknown", "hermes", [("exec_command", {"cmd": "cat greet.txt"}), ("exec_command", {"cmd": "sed -i 's/wrold/world/' greet.txt && echo hello world"})], False),
    # Its patch tool is a custom tool with a grammar.
    codex("codex-catalogue", "qwen3_coder", [("exec_command", {"cmd": "cat greet.txt"}), ("apply_patch", {"input": PATCH})], True,
          more='model_catalog_json = "$FOLDER/catalogue.json"', files={"catalogue.json": json.dumps(CATALOGUE)}),
    # For this one it sends no tools, but an additional_tools item with namespaces.
    codex("codex-sol", "glm47", [("functions__exec", {"input": 'const r = await tools.exec_command({cmd: "cat greet.txt"}); text(r.output);'}),
                                 ("functions__exec", {"input": SCRIPT})], True, model="gpt-6.2-sol"),
    Run("claude", "glm47", "/v1/messages", replaced("Edit", "Read", "file_path", "old_string", "new_string"),
        ["claude", "-p", TASK, "--output-format", "json", "--permission-mode", "acceptEdits"], claude_done,
        environment={"ANTHROPIC_BASE_URL": "$URL", "ANTHROPIC_API_KEY": "dummy", "ANTHROPIC_MODEL": "claude", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}),
    Run("qwen", "qwen3_coder", "/v1/chat/completions", replaced("edit", "read_file", "file_path", "old_string", "new_string"),
        ["qwen", "-p", TASK, "--approval-mode", "auto-edit", "-o", "json"], qwen_done, files={"home/.qwen/settings.json": json.dumps(QWEN)},
        environment={"OPENAI_BASE_URL": "$URL/v1", "OPENAI_API_KEY": "dummy", "OPENAI_MODEL": "qwen"}),
    opencode("opencode-chat", "hermes", "/v1/chat/completions", "@ai-sdk/openai-compatible"),
    opencode("opencode-responses", "glm47", "/v1/responses", "@ai-sdk/openai"),
    opencode("opencode-messages", "qwen3_coder", "/v1/messages", "@ai-sdk/anthropic"),
]


def prepare(work):
    (work / "recordings").mkdir()
    for run in RUNS:
        (work / "recordings" / (run.name + ".json")).write_text(json.dumps(run.recordings(work)))


def resolver(asked):
    """A resolver that knows no name, and keeps what it was asked."""
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))

    def answer():
        while True:
            query, client = server.recvfrom(4096)
            labels, at = [], 12
            while query[at]:
                labels.append(query[at + 1 : at + 1 + query[at]].decode(errors="replace"))
                at += 1 + query[at]
            asked.append(".".join(labels))
            server.sendto(query[:2] + b"\x81\x83" + query[4:6] + bytes(6) + query[12 : at + 5], client)

    threading.Thread(target=answer, daemon=True).start()


def requests(log, since):
    """What the server has been asked since a place in its log."""
    out = []
    with open(log) as file:
        file.seek(since)
        for line in file:
            entry = json.loads(line)
            if entry.get("msg") == "request":
                out.append((entry["method"], entry["path"], entry["status"]))
    return out


def run_one(run, work, url, log, binaries):
    folder = work / run.name

    def filled(text):
        return text.replace("$URL", url).replace("$FOLDER", str(folder))

    for name, text in {"work/greet.txt": "hello wrold\n", "home/.empty": "", **run.files}.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(filled(text))
    environment = {"HOME": str(folder / "home"), "PATH": f"{binaries}:{os.environ['PATH']}", "LANG": "C.UTF-8", "TMPDIR": str(folder)}
    environment.update({key: filled(value) for key, value in run.environment.items()})
    since = os.path.getsize(log)
    began = time.time()
    # In a group of its own, since these commands start others.
    process = subprocess.Popen(run.command, cwd=folder / "work", env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        out, errors = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, errors = process.communicate()
    late = process.returncode == -signal.SIGKILL
    wrong = []
    file = (folder / "work" / "greet.txt").read_text()
    if file != "hello world\n":
        wrong.append(f"the file is {file!r}")
    asked = requests(log, since)
    if asked != [("POST", run.path, 200)] * 3:
        wrong.append(f"the server was asked {asked}")
    if process.returncode != 0:
        wrong.append(f"no end within {LIMIT} s" if late else f"status {process.returncode}")
    try:
        run.success(out)
    except Exception as error:
        wrong.append(repr(error))
    if wrong:
        return "\n  ".join(wrong + ["output: " + out[-3000:], "errors: " + errors[-3000:]])
    print(f"agents: {run.name} on {run.path}, a model of {run.family}: mended in {time.time() - began:.1f} s, 3 requests")


def main():
    what, work = sys.argv[1], pathlib.Path(sys.argv[2])
    if what == "prepare":
        return prepare(work)
    url, log, binaries = sys.argv[3:6]
    asked, failed = [], False
    resolver(asked)
    for run in RUNS:
        if len(sys.argv) > 6 and run.name not in sys.argv[6:]:
            continue
        wrong = run_one(run, work, url, log, binaries)
        if asked:
            wrong = f"{wrong or ''}\n  names were looked up: {sorted(set(asked))}"
            asked.clear()
        if wrong:
            failed = True
            print(f"agents: {run.name} FAILED: {wrong}")
    sys.exit(failed)


main()

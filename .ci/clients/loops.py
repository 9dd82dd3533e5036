"""Agents on every interface: the OpenAI Agents SDK and pydantic-ai let a model read a file, edit it and report, streamed and
whole. The file, the answer and the number of requests are compared.

Usage: loops.py URL
"""

import asyncio
import os
import sys
import tempfile

import agents
import anthropic
import openai
import pydantic_ai
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

url = sys.argv[1]
task = "Fix the typo in greet.txt"
report = "The file now says hello world."
failures = 0
sent = 0


async def count(request):
    global sent
    sent += 1


def counted(client):
    """A client whose requests are counted."""
    client._client.event_hooks["request"].append(count)
    return client


def read_file(path: str) -> str:
    """Reads a file."""
    with open(path) as file:
        return file.read()


def edit_file(path: str, old_string: str, new_string: str) -> str:
    """Puts one text in the place of another in a file."""
    text = read_file(path)
    assert text.count(old_string) == 1
    with open(path, "w") as file:
        file.write(text.replace(old_string, new_string))
    return path + " was edited"


async def agents_sdk(interface, streamed):
    client = counted(openai.AsyncOpenAI(base_url=url + "/v1", api_key="none", max_retries=0))
    model = {"chat": agents.OpenAIChatCompletionsModel, "responses": agents.OpenAIResponsesModel}[interface](model="scripted", openai_client=client)
    agent = agents.Agent(name="editor", instructions="You mend files.", model=model, tools=[agents.function_tool(read_file), agents.function_tool(edit_file)])
    if not streamed:
        return (await agents.Runner.run(agent, task)).final_output
    run = agents.Runner.run_streamed(agent, task)
    async for _ in run.stream_events():
        pass
    return run.final_output


async def pydantic_agent(interface, streamed):
    if interface == "messages":
        provider = AnthropicProvider(anthropic_client=counted(anthropic.AsyncAnthropic(base_url=url, api_key="none", max_retries=0)))
        model = AnthropicModel("scripted", provider=provider)
    else:
        provider = OpenAIProvider(openai_client=counted(openai.AsyncOpenAI(base_url=url + "/v1", api_key="none", max_retries=0)))
        model = {"chat": OpenAIChatModel, "responses": OpenAIResponsesModel}[interface]("scripted", provider=provider)
    agent = pydantic_ai.Agent(model, instructions="You mend files.", tools=[read_file, edit_file])
    events = []

    async def watch(_, stream):
        async for event in stream:
            events.append(event.event_kind)

    result = await agent.run(task, event_stream_handler=watch if streamed else None)
    assert ("part_delta" in events) == streamed
    parts = [p for m in result.all_messages() for p in m.parts if p.part_kind == "thinking"]
    thoughts = [p.content or "".join(p.provider_details["raw_content"]) for p in parts]  # the second on Responses
    assert thoughts == ["I have to see it first.", "Two letters are the wrong way round.", "That was all."], thoughts
    return result.output


async def main():
    global failures, sent
    agents.set_tracing_disabled(True)
    for loop, interfaces in [(agents_sdk, ["chat", "responses"]), (pydantic_agent, ["chat", "responses", "messages"])]:
        for interface in interfaces:
            for streamed in (False, True):
                with tempfile.TemporaryDirectory() as folder:
                    os.chdir(folder)
                    with open("greet.txt", "w") as file:
                        file.write("hello wrold\n")
                    sent = 0
                    try:
                        said = await loop(interface, streamed)
                    except Exception as error:
                        said = repr(error)
                    found = (said, read_file("greet.txt"), sent)
                    os.chdir("/")
                if found != (report, "hello world\n", 3):
                    failures += 1
                    print(f"loops: {loop.__name__} on {interface}, streamed {streamed}: {found}")


asyncio.run(main())
print("loops:", "failed" if failures else "10 runs as expected", "with openai-agents", agents.version.__version__, "and pydantic-ai", pydantic_ai.__version__)
sys.exit(failures > 0)
